import { EventEmitter } from 'node:events'
import type { FSWatcher, watch } from 'chokidar'

/** Watches nothing. */
export const noEvents: typeof watch = () => {
  const silent = Object.assign(new EventEmitter(), {
    add: () => undefined,
    unwatch: () => undefined,
    close: async () => undefined,
  })
  setImmediate(() => silent.emit('ready'))
  return silent as unknown as FSWatcher
}
