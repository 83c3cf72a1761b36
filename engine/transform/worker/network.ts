/**
 * Reports where a call connects to, for tests. Requests of `fetch` and `node:http` name their target; whatever else opens a
 * connection or looks up a name is noticed by the handle that Node makes for it.
 */

import { createHook } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'

const maxReported = 10

interface Request {
  readonly origin?: unknown
  readonly protocol?: unknown
  readonly host?: unknown
}

/** `report` is given each target once for each call. Nothing is hooked before the first call that is watched. */
export function createNetworkWatch(report: (target: string) => void) {
  let seen: Set<string> | undefined
  let isReady = false
  const defer = queueMicrotask.bind(globalThis)

  function reportOnce(target: string): void {
    if (seen === undefined || seen.size >= maxReported || seen.has(target)) return
    seen.add(target)
    report(target)
  }

  const handles = createHook({
    init(_id, type, _trigger, resource: { hostname?: unknown; address?: unknown; port?: unknown }) {
      if (type !== 'TCPCONNECTWRAP' && type !== 'GETADDRINFOREQWRAP' && type !== 'PIPECONNECTWRAP') return
      // It gets its fields once it is made. A request that has named its target needs no second name.
      defer(() => {
        if (seen === undefined || seen.size > 0) return
        const { hostname, address, port } = resource
        reportOnce(
          typeof hostname === 'string' ? hostname : address === undefined ? 'a socket' : `${address}:${port}`,
        )
      })
    },
  })

  function prepare(): void {
    isReady = true
    subscribe('undici:request:create', (message) => {
      const { request } = message as { request?: Request }
      reportOnce(String(request?.origin))
    })
    subscribe('http.client.request.start', (message) => {
      const { request } = message as { request?: Request }
      reportOnce(`${String(request?.protocol)}//${String(request?.host)}`)
    })
  }

  return {
    begin() {
      if (!isReady) prepare()
      seen = new Set()
      handles.enable()
    },
    end() {
      if (seen === undefined) return
      seen = undefined
      handles.disable()
    },
  }
}
