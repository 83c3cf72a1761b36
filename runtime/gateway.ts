/** Assembles a gateway in stages: configuration, store, work and serving, each from what the earlier ones made. */

import { createLoader, type Live, type ReloadResult } from '@reveille/engine'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { configure } from './assembly/configure.ts'
import { openStore } from './assembly/open-store.ts'
import type { Assembly, GatewayOptions } from './assembly/options.ts'
import { createParts } from './assembly/parts.ts'
import { createServing } from './assembly/serve.ts'
import { createWork } from './assembly/work.ts'
import type { Log } from './observe/log.ts'
import { presetsFolder } from './presets-folder.ts'
import { loadStart } from './reload/start.ts'
import type { StoreError } from './store/port.ts'

export type { GatewayOptions } from './assembly/options.ts'

export interface Gateway {
  readonly log: Log
  /**
   * Resolves when the gateway can do nothing more in this process, as its store has stopped for good. It still replies, with
   * 503; the program that runs it should close it and start another process.
   */
  readonly failed: Promise<StoreError>
  current(): Live
  /** Where the listener for a tunnel is; undefined without one, and before `listen`. */
  tunnelAddress(): string | undefined
  /** Resolves with the tunnel's address on the internet, or with undefined if there is none yet. */
  publicUrl(): Promise<string | undefined>
  /**
   * True if a transform's thread, or the store's, could not be ended. Node.js waits for such a thread: only a signal ends the process.
   */
  isStuck(): boolean
  /** Reads the files again, as after a change; ends a rollback. @throws Error once closing */
  reload(): Promise<ReloadResult>
  /** Begins to accept. Resolves with the address: `http://127.0.0.1:8787`. @throws ListenError */
  listen(): Promise<string>
  /** A request without a socket. */
  inject(request: InjectOptions): Promise<LightMyRequestResponse>
  /**
   * Stops accepting, waits for running turns up to `graceMs` (default 30,000) and leaves the rest resumable. Further calls
   * return the same promise.
   */
  close(options?: { graceMs?: number }): Promise<void>
}

const drainGraceMs = 30_000

/** @throws ConfigurationError, StoreError `LOCKED` or `SCHEMA_NEWER` */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const parts = createParts()
  try {
    return await assemble({
      ...{ options, parts },
      draining: new AbortController(),
      listening: { began: false },
    })
  } catch (error) {
    await parts.close()
    throw error
  }
}

async function assemble(assembly: Assembly): Promise<Gateway> {
  const { options, parts, draining } = assembly
  const { configFile: file, env = process.env } = options
  const files = { file, env, presets: presetsFolder() }
  const loader = parts.add(createLoader(files))
  const start = await loadStart(loader, { ...files, whole: options.lastGood ?? false })

  const configured = await configure(assembly, loader, start)
  const stored = await openStore(assembly, configured)
  const working = createWork(assembly, configured, stored)
  const serving = await createServing(assembly, configured, stored, working)

  const { reloader, log, transforms, current } = configured
  const { store, failed } = stored
  const { app, listening, sources, replayJobs } = serving
  await working.dispatch.start()
  stored.maintenance.begin(replayJobs.start)
  sources.begin()
  working.issues.start()
  // The broken files are reloaded and refused like any change, so that every command can show what is wrong with them.
  if (stored.reloads.servedLastGood()) await reloader.reload()

  /** The reloader closes first, so that nothing goes live while the parts end. */
  async function stop(graceMs: number): Promise<void> {
    await reloader.close()
    await Promise.all([
      sources.end(),
      app.close(),
      listening.endTunnel(),
      replayJobs.close(),
      working.dispatch.drain(graceMs),
    ])
    await parts.close()
  }

  let closing: Promise<void> | undefined
  return {
    ...{ log, failed, current },
    tunnelAddress: listening.tunnelAddress,
    publicUrl: listening.tunnelOpened,
    isStuck: () => transforms.isStuck() || store.isStuck(),
    reload: () => reloader.reload({ endsRollback: true }),
    listen: listening.begin,
    inject: (request) => app.inject(request),
    close({ graceMs = drainGraceMs } = {}) {
      if (!draining.signal.aborted && graceMs > 0) log.info({ event: 'gateway-draining', graceMs })
      draining.abort()
      closing ??= stop(graceMs)
      return closing
    },
  }
}
