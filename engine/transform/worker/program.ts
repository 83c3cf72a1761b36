/** Finds the worker's program, which lies beside this module as a source, in a package or in a bundle. */

import { programFile } from '../../threads/thread.ts'

export const workerProgram = programFile('./transform-worker.ts', import.meta.url)
