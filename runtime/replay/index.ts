/** The public face of replays. */

export { createReplayJobs, type JobTerms, type ReplayJobs } from './jobs.ts'
export {
  createReplays,
  isSendersFault,
  notKept,
  type ReplayAnswer,
  type Replays,
  type Unreplayable,
} from './replays.ts'
