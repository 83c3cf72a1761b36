/** Exports the replays to the rest of the runtime. */

export { createReplayJobs, type JobOptions, type ReplayJobs } from './jobs.ts'
export {
  bodyNotKept,
  createReplays,
  isSendersFault,
  type ReplayAnswer,
  type Replays,
  type Unreplayable,
} from './replays.ts'
