/** The process that contract tests kill: it opens a store, does its task, and writes a line for each thing done. */

import { createIdMinter } from '../../id.ts'
import type { OpenStore } from '../../port.ts'
import { createSampler } from './samples.ts'

const [module = '', name = '', location = '', task] = process.argv.slice(2)
const open: OpenStore = (await import(module))[name]
const store = await open({
  location,
  now: Date.now,
  keepMs: 86_400_000,
  backlog: 1_000_000,
  historyMessages: 20,
})
const sample = createSampler({ mintId: createIdMinter(Date.now), clock: { now: Date.now } })
const report = (line: string) => process.stdout.write(`${line}\n`)

if (task === 'perform') {
  store.work({
    kinds: ['run'],
    concurrency: 1,
    async perform(claim) {
      const id = claim.task.subject ?? ''
      await claim.checkpoint({ run: { id, stage: 'ran', reply: 'checkpointed' } })
      report(id)
      return new Promise(() => {})
    },
  })
  const [first, second] = [sample.runAction({ sessionKey: 'pr:1' }), sample.runAction({ sessionKey: 'pr:1' })]
  await store.accept(sample.entry(first, second))
} else {
  const hour = 3_600_000
  const actions = () =>
    task === 'join'
      ? [sample.coalescedAction({ keep: 'all', windowMs: hour, maxWaitMs: 2 * hour })]
      : [sample.runAction(), sample.eventAction()]
  const accept = async (): Promise<never> => {
    for (;;) {
      const entry = sample.entry(...actions())
      await store.accept(entry)
      report(entry.request.id)
    }
  }
  await Promise.all(Array.from({ length: 8 }, accept))
}
