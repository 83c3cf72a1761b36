/** Takes something out of the page: copies a text, such as a command or an id, or saves a file. */

import { useState } from 'preact/hooks'
import { announce } from '../browser/announce.tsx'
import { Button } from './controls.tsx'
import { Icon } from './icons.tsx'
import { Code } from './marked.tsx'

/** `what` completes "Copy …": `the command`. */
export function CopyButton({ text, what, isSmall }: { text: string; what: string; isSmall?: boolean }) {
  const [isDone, setDone] = useState(false)
  async function copy() {
    const isCopied = await copyText(text)
    announce(
      isCopied
        ? `Copied ${what}.`
        : `This browser does not let a page copy. Select ${what} and copy it yourself.`,
    )
    setDone(isCopied)
  }
  return (
    <Button
      class={isSmall ? 'ghost icon-button small' : ''}
      aria-label={`Copy ${what}`}
      onClick={copy}
      onBlur={() => setDone(false)}
    >
      <Icon name={isDone ? 'check' : 'copy'} />
      {isSmall ? null : <span>{isDone ? 'Copied' : 'Copy'}</span>}
    </Button>
  )
}

/** Over plain HTTP a browser has no clipboard for pages, but on this machine itself. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

function copyBySelection(text: string): boolean {
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'visually-hidden'
  document.body.append(field)
  const before = document.activeElement
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  if (before instanceof HTMLElement) before.focus()
  return isCopied
}

/** A command line to copy. */
export function Command({ text }: { readonly text: string }) {
  return (
    <div class="line note tone-quiet">
      <Code text={text} />
      <CopyButton text={text} what="the command" isSmall />
    </div>
  )
}

/** An id in full, to copy. */
export function IdText({ id }: { readonly id: string }) {
  return (
    <span class="line">
      <Code text={id} />
      <CopyButton text={id} what="the id" isSmall />
    </span>
  )
}

/** Saves what the page has as a file. A link to the API would not do: it is sent without the half of the sign-in that the page keeps. */
export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
