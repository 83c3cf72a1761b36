/** The one place from which screen readers are spoken to without moving the focus, politely and not often. */

import { signal } from '@preact/signals'

const spoken = signal('')

/** A text that is the same as the last one is read out again. */
export function announce(text: string): void {
  spoken.value = spoken.peek() === text ? `${text}\u00a0` : text
}

export function LiveRegion() {
  return (
    <div class="visually-hidden" role="status" aria-live="polite" aria-atomic="true" id="live-region">
      {spoken}
    </div>
  )
}
