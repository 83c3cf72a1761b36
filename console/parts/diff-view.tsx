/** Shows how two texts differ, line by line, with the changed words marked. It is a table, so that it can be read without its colours. */

import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { type DiffLine, diffLinesOf } from './diff-lines.ts'
import { shown } from './marked.tsx'
import { piecesOf } from './pieces.ts'

interface DiffProps {
  readonly name: string
  readonly before: string
  readonly after: string
}

export function DiffView({ name, before, after }: DiffProps) {
  const lines = useMemo(() => diffLinesOf(before, after), [before, after])
  if (lines === undefined) {
    return <p class="quiet">The two texts have too little in common to be compared line by line.</p>
  }
  if (lines.length === 0) {
    return <p class="quiet">They differ only in values that are hidden here, or in line ends.</p>
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard.
    <section class="diff" aria-label={`Changes of ${name}`} tabIndex={0}>
      <table>
        <thead class="visually-hidden">
          <tr>
            <th scope="col">Line before</th>
            <th scope="col">Line after</th>
            <th scope="col">Change</th>
            <th scope="col">Text</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line, index) => (
            <tr key={index} class={`diff-${line.kind}`}>
              <td class="diff-number">{line.before}</td>
              <td class="diff-number">{line.after}</td>
              <td class="diff-sign">
                <span aria-hidden="true">{signs[line.kind]}</span>
                <span class="visually-hidden">{words[line.kind]}</span>
              </td>
              <td class="diff-text">
                <DiffText line={line} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const signs = { same: '', added: '+', removed: '−', gap: '⋯' } as const
const words = { same: '', added: 'added', removed: 'removed', gap: 'unchanged lines are left out' } as const

function DiffText({ line: { kind, parts } }: { readonly line: DiffLine }): ComponentChildren {
  const content = parts.map(({ text, isChanged }, index) => {
    const pieces = shown(piecesOf(text, { isLine: true }))
    return isChanged ? <mark key={index}>{pieces}</mark> : pieces
  })
  if (kind === 'added') return <ins>{content}</ins>
  if (kind === 'removed') return <del>{content}</del>
  return <bdi>{content}</bdi>
}
