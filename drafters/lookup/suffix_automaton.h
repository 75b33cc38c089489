// A suffix automaton (Blumer et al. 1985): every word sequence that occurs in the texts read so far is a path
// from the root, and a state is a set of sequences that occur at the same places. Kept at each state: how
// often its sequences occur and where the last of them ends.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/base/types.h"
#include "drafters/lookup/best_first.h"

namespace forerun {

class SuffixAutomaton {
 public:
  using State = int32_t;
  static constexpr State kRoot = 0;
  static constexpr State kNone = -1;
  static constexpr TokenId kEndOfText = -1;  // between texts in tokens()

  SuffixAutomaton() { Clear(); }
  void Clear();
  // Amortised constant, but for the counts: a step for each repeated suffix that has a state of its own, a
  // handful in text, and as many as the run is long inside a run of one token.
  void Append(TokenId token);
  // Makes it the automaton of `text` alone: reads on where that continues what was read, else starts anew.
  // Returns how much of it had been read.
  std::size_t Follow(std::span<const TokenId> text);
  // The next token begins another text: no sequence crosses.
  void EndText();

  // Everything read, kEndOfText after each text that has ended.
  std::span<const TokenId> tokens() const { return tokens_; }
  State Next(State state, TokenId token) const;                      // kNone where that does not occur
  State link(State state) const { return states_[state].link; }      // of the longest suffix elsewhere too
  int longest(State state) const { return states_[state].longest; }  // tokens of its longest sequence
  int64_t count(State state) const { return states_[state].count; }  // occurrences
  int latest_end(State state) const { return states_[state].latest_end; }  // index after the latest one
  State last() const { return last_; }                                     // the whole text so far

  // The longest suffix of the only text that occurred in it before, and where it then ended last.
  struct Repeat {
    int length = 0;
    int end = 0;
  };
  Repeat repeat() const { return repeat_; }

  // The place in the automaton of a sequence's longest suffix that occurs.
  struct Cursor {
    State state = kRoot;
    int length = 0;
  };
  Cursor Advance(Cursor cursor, TokenId token) const;

  // A suffix that occurs, the longest of those that occur at the same places.
  using Place = State;
  struct Match {
    int length = 0;
    Place place = kRoot;
  };
  // From `state`, of which sequences up to `length` tokens match, up the suffix links: longest first, cut to
  // `most` tokens.
  std::vector<Match> MatchesFrom(State state, int length, int most) const;
  // All that follows, the most frequent first, the latest first among equals; shares are of count(place).
  std::vector<Follower<Place>> Followers(Place place) const;

  // What is wrong with the structure; empty: nothing.
  std::string CheckIntegrity() const;

 private:
  struct StateData {
    State link = kNone;
    int longest = 0;
    int count = 0;
    int latest_end = 0;
    int first_edge = -1;  // index into edges_
  };
  struct Edge {
    TokenId token;
    int next;  // of the same state
  };
  static uint64_t Key(State state, TokenId token) {
    return static_cast<uint64_t>(state) << 32 | static_cast<uint32_t>(token);
  }
  State AddState(int longest);
  void SetNext(State state, TokenId token, State next);
  State Extend(TokenId token);                       // the state of the text with `token` behind it
  State Split(State from, TokenId token, State to);  // makes the edge's own sequence the longest of a state

  std::vector<TokenId> tokens_;
  std::vector<StateData> states_;
  std::vector<Edge> edges_;
  absl::flat_hash_map<uint64_t, State> next_;
  State last_ = kRoot;
  Repeat repeat_;
};

}  // namespace forerun
