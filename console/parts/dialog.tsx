/** A dialog of the browser itself, which keeps the focus inside and closes with Escape. */

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Icon } from './icons.tsx'

export interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const name = useId()
  useEffect(() => {
    const shown = dialog.current
    shown?.showModal()
    // The browser puts the focus back where it was.
    return () => shown?.close()
  }, [])
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby={name} onClose={onClose}>
      <header class="line">
        <h2 id={name}>{title}</h2>
        <button
          type="button"
          class="button ghost icon-button"
          aria-label="Close"
          onClick={() => dialog.current?.close()}
        >
          <Icon name="close" />
        </button>
      </header>
      {children}
    </dialog>
  )
}
