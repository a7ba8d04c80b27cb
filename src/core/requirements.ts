import type { Requirements } from './policy.ts';

/** A vote as it counts: who cast it and which groups it can stand for. */
export interface CountedVote {
  approver: string;
  groups: readonly string[];
}

/**
 * How many of an ask's places the votes fill. There is one place for each required group and, up to the number
 * of votes, places that anyone may fill; a vote fills at most one. Which group a vote stands for is not fixed
 * when it is cast: the best assignment counts (maximum bipartite matching).
 */
export function countFilledPlaces(requirements: Requirements, votes: readonly CountedVote[]): number {
  const voteOfGroup = new Map<string, CountedVote>();
  const assign = (vote: CountedVote, tried: Set<string>): boolean => {
    for (const group of requirements.groups) {
      if (!vote.groups.includes(group) || tried.has(group)) continue;
      tried.add(group);
      const holder = voteOfGroup.get(group);
      if (holder === undefined || assign(holder, tried)) {
        voteOfGroup.set(group, vote);
        return true;
      }
    }
    return false;
  };
  const inGroups = votes.filter((vote) => assign(vote, new Set())).length;
  const openToAll = Math.max(requirements.votes - requirements.groups.length, 0);
  return inGroups + Math.min(votes.length - inGroups, openToAll);
}

/** Number of places an ask has: its votes, and never fewer than its groups. */
export function countPlaces(requirements: Requirements): number {
  return Math.max(requirements.votes, requirements.groups.length);
}

/** True when the votes fill every place. */
export function areRequirementsMet(requirements: Requirements, votes: readonly CountedVote[]): boolean {
  return countFilledPlaces(requirements, votes) >= countPlaces(requirements);
}

/** True when `vote` fills a place that `votes` leave open. */
export function fillsOpenPlace(
  requirements: Requirements,
  votes: readonly CountedVote[],
  vote: CountedVote,
): boolean {
  return countFilledPlaces(requirements, [...votes, vote]) > countFilledPlaces(requirements, votes);
}

/** The groups of which a vote is still wanted. */
export function findOpenGroups(requirements: Requirements, votes: readonly CountedVote[]): string[] {
  return requirements.groups.filter((group) =>
    fillsOpenPlace(requirements, votes, { approver: '', groups: [group] }),
  );
}
