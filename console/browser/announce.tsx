/** The one place from which screen readers are spoken to without moving the focus, politely and not often. */

import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

const spoken = signal('')

/** A text that is the same as the last one is read out again. */
export function announce(text: string): void {
  spoken.value = spoken.peek() === text ? `${text}\u00a0` : text
}

/** Says a text whenever it is another one, but not the first. Undefined: there is nothing to say yet. */
export function useAnnounced(text: string | undefined): void {
  const last = useRef<string>(undefined)
  useEffect(() => {
    if (text === undefined) return
    if (last.current !== undefined && last.current !== text) announce(text)
    last.current = text
  }, [text])
}

export function LiveRegion() {
  return (
    <div class="visually-hidden" role="status" aria-live="polite" aria-atomic="true" id="live-region">
      {spoken}
    </div>
  )
}
