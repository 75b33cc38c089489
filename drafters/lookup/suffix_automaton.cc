#include "drafters/lookup/suffix_automaton.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace forerun {

void SuffixAutomaton::Clear() {
  tokens_.clear();
  states_.assign(1, StateData{});
  edges_.clear();
  next_.clear();
  last_ = kRoot;
  repeat_ = {};
}

SuffixAutomaton::State SuffixAutomaton::AddState(int longest) {
  states_.push_back({.longest = longest});
  return static_cast<State>(states_.size()) - 1;
}

SuffixAutomaton::State SuffixAutomaton::Next(State state, TokenId token) const {
  const auto found = next_.find(Key(state, token));
  return found == next_.end() ? kNone : found->second;
}

void SuffixAutomaton::SetNext(State state, TokenId token, State next) {
  if (!next_.insert_or_assign(Key(state, token), next).second) return;
  edges_.push_back({token, states_[state].first_edge});
  states_[state].first_edge = static_cast<int>(edges_.size()) - 1;
}

void SuffixAutomaton::EndText() {
  if (!tokens_.empty() && tokens_.back() != kEndOfText) tokens_.push_back(kEndOfText);
  last_ = kRoot;
  repeat_ = {};
}

SuffixAutomaton::State SuffixAutomaton::Split(State from, TokenId token, State to) {
  const State split = AddState(states_[from].longest + 1);
  states_[split].link = states_[to].link;
  states_[split].count = states_[to].count;
  states_[split].latest_end = states_[to].latest_end;
  for (int edge = states_[to].first_edge; edge >= 0; edge = edges_[edge].next)
    SetNext(split, edges_[edge].token, Next(to, edges_[edge].token));
  states_[to].link = split;
  for (State state = from; state != kNone && Next(state, token) == to; state = states_[state].link)
    SetNext(state, token, split);
  return split;
}

SuffixAutomaton::State SuffixAutomaton::Extend(TokenId token) {
  const int longest = states_[last_].longest + 1;
  if (const State known = Next(last_, token); known != kNone)  // as far as an earlier text said the same
    return states_[known].longest == longest ? known : Split(last_, token, known);
  const State added = AddState(longest);
  State state = last_;
  for (; state != kNone && Next(state, token) == kNone; state = states_[state].link)
    SetNext(state, token, added);
  State link = kRoot;
  if (state != kNone) {
    link = Next(state, token);
    if (states_[link].longest != states_[state].longest + 1) link = Split(state, token, link);
  }
  states_[added].link = link;
  return added;
}

void SuffixAutomaton::Append(TokenId token) {
  last_ = Extend(token);
  tokens_.push_back(token);
  const State before = states_[last_].link;
  repeat_ = {states_[before].longest, states_[before].latest_end};
  for (State state = last_; state != kRoot; state = states_[state].link) {
    ++states_[state].count;
    states_[state].latest_end = static_cast<int>(tokens_.size());
  }
}

std::size_t SuffixAutomaton::Follow(std::span<const TokenId> text) {
  if (tokens_.size() > text.size() || !std::equal(tokens_.begin(), tokens_.end(), text.begin())) Clear();
  const std::size_t known = tokens_.size();
  for (const TokenId token : text.subspan(known)) Append(token);
  return known;
}

SuffixAutomaton::Cursor SuffixAutomaton::Advance(Cursor cursor, TokenId token) const {
  State next = Next(cursor.state, token);
  while (next == kNone && cursor.state != kRoot) {
    cursor.state = states_[cursor.state].link;
    cursor.length = states_[cursor.state].longest;
    next = Next(cursor.state, token);
  }
  if (next == kNone) return {};
  return {next, cursor.length + 1};
}

std::vector<SuffixAutomaton::Match> SuffixAutomaton::MatchesFrom(State state, int length, int most) const {
  std::vector<Match> matches;
  for (; state != kRoot; state = states_[state].link, length = states_[state].longest) {
    const int shorter = states_[states_[state].link].longest;
    if (shorter < most) matches.push_back({std::min(length, most), state});
  }
  return matches;
}

std::vector<Follower<SuffixAutomaton::Place>> SuffixAutomaton::Followers(Place place) const {
  std::vector<Follower<Place>> followers;
  const double all = std::max(1, states_[place].count);
  for (int edge = states_[place].first_edge; edge >= 0; edge = edges_[edge].next) {
    const State next = Next(place, edges_[edge].token);
    followers.push_back({edges_[edge].token, states_[next].count / all, next});
  }
  std::sort(followers.begin(), followers.end(), [this](const auto& a, const auto& b) {
    const StateData &first = states_[a.place], &second = states_[b.place];
    return first.count != second.count ? first.count > second.count : first.latest_end > second.latest_end;
  });
  return followers;
}

std::string SuffixAutomaton::CheckIntegrity() const {
  std::vector<int64_t> below(states_.size(), 0);  // occurrences of the states that link here
  for (State state = 1; state < static_cast<State>(states_.size()); ++state) {
    const StateData& data = states_[state];
    const std::string where = absl::StrCat("state ", state, ": ");
    if (data.link < 0 || data.link >= static_cast<State>(states_.size())) return where + "links nowhere";
    if (states_[data.link].longest >= data.longest) return where + "its link is not shorter";
    if (data.count < 1) return where + "never occurs";
    if (data.latest_end < data.longest || data.latest_end > static_cast<int>(tokens_.size()))
      return where + "ends outside the text";
    if (states_[data.link].latest_end < data.latest_end && data.link != kRoot)
      return where + "occurs later than its suffix";
    below[data.link] += data.count;
  }
  const int64_t read =
      static_cast<int64_t>(tokens_.size()) - std::count(tokens_.begin(), tokens_.end(), kEndOfText);
  if (below[kRoot] != read) return absl::StrCat(below[kRoot], " occurrences of ", read, " tokens");
  for (State state = 0; state < static_cast<State>(states_.size()); ++state) {
    const std::string where = absl::StrCat("state ", state, ": ");
    if (state != kRoot && below[state] > states_[state].count) return where + "its suffixes occur less often";
    for (int edge = states_[state].first_edge; edge >= 0; edge = edges_[edge].next) {
      const State next = Next(state, edges_[edge].token);
      if (next == kNone) return where + "an edge leads nowhere";
      const int longest = states_[state].longest + 1;
      if (longest > states_[next].longest || longest <= states_[states_[next].link].longest)
        return where + "an edge leads to sequences of another length";
      if (tokens_[states_[next].latest_end - 1] != edges_[edge].token)
        return where + "an edge leads to sequences that end otherwise";
    }
  }
  return "";
}

}  // namespace forerun
