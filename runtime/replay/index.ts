/** The public face of replays. */

export { createReplayJobs, type JobOptions as JobTerms, type ReplayJobs } from './jobs.ts'
export {
  bodyNotKept as notKept,
  createReplays,
  isSendersFault,
  type ReplayAnswer,
  type Replays,
  type Unreplayable,
} from './replays.ts'
