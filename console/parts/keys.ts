/** Lets the open page take single keys, such as `p` on Live. */

import { useEffect, useRef } from 'preact/hooks'

const taken = new Map<string, () => void>()

/** While the component is shown, the key calls back. The list of keys is in `app/shortcuts.tsx`. */
export function useKey(key: string, callback: () => void): void {
  const newest = useRef(callback)
  newest.current = callback
  useEffect(() => {
    const call = () => newest.current()
    taken.set(key, call)
    return () => {
      if (taken.get(key) === call) taken.delete(key)
    }
  }, [key])
}

/** Returns whether the page took the key. */
export function pressed(key: string): boolean {
  const call = taken.get(key)
  call?.()
  return call !== undefined
}
