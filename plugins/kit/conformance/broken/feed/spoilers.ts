/** The modifications that break the feed, by the name of the test that has to notice. */

import type { PluginContext } from '../../../plugin.ts'
import type { Source, SourceCall, SourceReport } from '../../../source.ts'
import { ask, type FeedConfig } from './source.ts'

type Run = Source['run']
type Context = PluginContext<FeedConfig>

const forever = new AbortController().signal
/** Changes what a run is given. */
const given =
  (change: (call: SourceCall, context: Context) => Partial<SourceCall>) =>
  (run: Run, context: Context): Run =>
  (call) =>
    run({ ...call, ...change(call, context) })

const reporting = (change: (report: SourceReport, context: Context) => SourceReport) =>
  given(({ report }, context) => ({ report: (reported) => report(change(reported, context)) }))

/** Moves the cursor to the end of the feed. */
async function skip({ config, fetch }: Context, { storage }: SourceCall, signal: AbortSignal): Promise<void> {
  const newest = (await ask(config, fetch, 0, signal)).at(-1)
  await storage.write('cursor', newest?.number ?? 0)
}

export const spoilers: Readonly<Record<string, (run: Run, context: Context) => Run>> = {
  'reports that it works, and posts events': given(() => ({ post: async () => ({ status: 202 }) })),
  'posts events that happened while it did not run': (run, context) => async (call) => {
    await skip(context, call, call.signal)
    return run(call)
  },
  'posts an event once that was taken': given(({ storage }) => ({
    storage: { ...storage, write: async () => {} },
  })),
  'posts an event again that the gateway could not take': given(({ post }) => ({
    post: async (...args) =>
      post(...args).then(
        () => ({ status: 202 }),
        () => ({ status: 202 }),
      ),
  })),
  'continues with the others if one event cannot be fetched or is refused': given(({ post }) => ({
    post: async (...args) => {
      const posted = await post(...args)
      return posted.status === 400 ? { status: 500 } : posted
    },
  })),
  'respects the limits of one request': given(({ post }) => ({
    post: (endpoint, body) => post(endpoint, { ...(body as object), padding: 'x'.repeat(20_000) }),
  })),
  'continues from its storage, wherever it was aborted': (run, context) => async (call) => {
    await run(call).finally(() => skip(context, call, forever))
  },
  'continues from its storage, wherever it was killed': given(({ storage, post }) => ({
    // Moved on before it is posted, and back where that fails.
    async post(endpoint, body, signal) {
      const before = await storage.read('cursor')
      const [event] = (body as { events: { number: number }[] }).events
      await storage.write('cursor', event?.number)
      try {
        return await post(endpoint, body, signal)
      } catch (error) {
        await storage.write('cursor', before)
        throw error
      }
    },
  })),
  'ends soon when aborted': (run) => async (call) => {
    await run(call).catch(() => new Promise(() => {}))
  },
  'ends soon when aborted before it begins': (run) => async (call) => {
    // A listener of a signal that is already aborted is never called.
    if (!call.signal.aborted) return run(call)
    await new Promise((resolve) => call.signal.addEventListener('abort', resolve))
  },
  'ends soon when aborted while its service is silent':
    (run, { config, fetch }) =>
    async (call) => {
      const asking = async () => {
        await ask(config, fetch, 0, forever)
        await call.clock.sleep(1000, call.signal)
      }
      const beside = (async () => {
        while (!call.signal.aborted) await asking().catch(() => {})
      })()
      await run(call).finally(() => beside)
    },
  'ends soon when aborted while the gateway is silent': given(({ post }) => ({
    post: async (...args) => post(...args).catch(() => new Promise(() => {})),
  })),
  'does nothing after it has ended': (run) => async (call) => {
    await run(call).finally(() =>
      setTimeout(() => call.report({ state: 'working', detail: 'Still here.' }), 5),
    )
  },
  'reports in sentences and numbers': reporting((report) => ({ ...report, times: { asked: Number.NaN } })),
  'reports what is wrong when its service fails, or throws a PluginError': (run) => async (call) => {
    await run(call).catch((error: Error) => {
      throw new Error(error.message)
    })
  },
  'shows no secret to the gateway and its log': reporting((report, { config }) => ({
    ...report,
    detail: `It was asked with ${config.token}.`,
  })),
  'leaves no timer and no listener behind a run': (run) => async (call) => {
    call.signal.addEventListener('abort', () => {})
    await run(call)
  },
}
