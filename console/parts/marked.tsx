/**
 * Shows text from outside. Everything that is received is text and stays text: what could steer a reader, such as a character that reverses
 * the reading order, an invisible one or a control character, is shown as a mark instead of having its effect.
 */

import type { ComponentChildren } from 'preact'
import { type Piece, piecesOf } from './pieces.ts'

/** Text from outside in running text: one line, kept apart from the direction of the surrounding text. */
export function Marked({ text }: { readonly text: string }) {
  return <bdi>{shown(piecesOf(text, { isLine: true }))}</bdi>
}

/** Text from outside in a line of code: an id, a path, a name. */
export function Code({ text, isQuiet }: { readonly text: string; readonly isQuiet?: boolean }) {
  return (
    <code class={isQuiet ? 'quiet' : undefined}>
      <Marked text={text} />
    </code>
  )
}

/** Text with code between backquotes. */
export function Rich({ text }: { readonly text: string }): ComponentChildren {
  return text
    .split(/(`[^`]+`)/)
    .map((part, index) =>
      index % 2 === 1 ? <Code key={index} text={part.slice(1, -1)} /> : part !== '' && <Marked text={part} />,
    )
}

/** Text from outside as a block, with its own line breaks. It can be scrolled by keyboard. */
export function TextBlock({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard.
    <section class="text-block" tabIndex={0} aria-label={label}>
      <bdi>{shown(piecesOf(text))}</bdi>
    </section>
  )
}

/** For texts of which parts are marked in another way too. */
export function shown(pieces: readonly Piece[]): ComponentChildren {
  return pieces.map(({ text, title }, index) =>
    title === undefined ? (
      text
    ) : (
      <span key={index} class="mark" title={title}>
        {text}
      </span>
    ),
  )
}
