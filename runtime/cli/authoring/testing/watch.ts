/** `reveille test --watch`: runs the tests again whenever the content of a file changes, until it is stopped. */

import { createWatcher } from '@reveille/engine'
import type { Io } from '../../io.ts'
import { createStopSignal } from '../../signals.ts'
import { isGood } from './report.ts'
import type { TestRun } from './run.ts'

/**
 * `isPlain`: nothing is written between two results, for a program that reads them.
 *
 * @returns the exit code of the last run
 */
export async function watchSource(
  run: () => Promise<TestRun>,
  report: (done: TestRun) => void,
  { io, isPlain }: { readonly io: Io; readonly isPlain: boolean },
): Promise<number> {
  const stop = createStopSignal({ signals: io.signals })
  const stopped = stop.first.then(() => 'stopped' as const)
  let changed = Promise.withResolvers<'changed'>()
  const watcher = createWatcher({
    onChange: () => changed.resolve('changed'),
    onError: (error) =>
      io.err(`Changes may go unseen: ${error instanceof Error ? error.message : 'unknown'}\n`),
  })
  let last = await run()
  report(last)
  watcher.watch(last.watched)
  io.err('Watching; Ctrl-C ends it.\n')
  while ((await Promise.race([stopped, changed.promise])) === 'changed') {
    changed = Promise.withResolvers()
    const next = await run()
    watcher.watch(next.watched)
    // A change signal may come without a change, and the same content gives the same results.
    if (next.digest === last.digest) continue
    last = next
    if (!isPlain) io.out(`\n${separator(io)}\n`)
    report(last)
  }
  stop.close()
  await watcher.close()
  return isGood(last) ? 0 : 1
}

function separator(io: Io): string {
  const time = new Date(io.now()).toTimeString().slice(0, 8)
  return `── ${time} ${'─'.repeat(Math.max(3, Math.min(io.columns ?? 60, 60) - time.length - 4))}`
}
