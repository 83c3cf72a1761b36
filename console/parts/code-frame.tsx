/** Shows a diagnostic at its line: the place, the line with the fault marked, what is wrong and how to mend it. */

import type { ComponentChildren } from 'preact'
import type { ItemOf } from '../data/types.ts'
import { Marked, shown } from './marked.tsx'
import { piecesOf } from './pieces.ts'

/** As the gateway writes it. Line, column and caret count from 1. */
export type Diagnostic = ItemOf<'listGenerations'>['diagnostics'][number]

/** The word that a place points to. */
const word = /^(?:["'][^"']*["']|[\w.$-]+|\S|$)/

interface DiagnosticProps {
  readonly diagnostic: Diagnostic
  /** The folder of the configuration; files below it are shown by their names from there. */
  readonly folder?: string
  /** Called with the place, where it can be gone to. */
  readonly onGoTo?: (line: number, column: number) => void
}

export function CodeFrame({ diagnostic, folder, onGoTo }: DiagnosticProps) {
  const { severity, code, message, place, hint } = diagnostic
  return (
    <div class={`code-frame edge tone-${severity === 'error' ? 'bad' : 'warn'}`}>
      <p class="code-frame-message">
        <span class={`badge tone-${severity === 'error' ? 'bad' : 'warn'}`}>{severity}</span>{' '}
        <Rich text={message} /> <code class="quiet">{code}</code>
      </p>
      {place !== undefined && (
        <p class="code-frame-place">
          <code>
            <Marked text={placeText(place, folder)} />
          </code>
          {onGoTo !== undefined && (
            <button type="button" class="button small" onClick={() => onGoTo(place.line, place.column)}>
              Go to line {place.line}
            </button>
          )}
        </p>
      )}
      {place !== undefined && place.text.trim() !== '' && <FrameLine place={place} />}
      {hint !== undefined && (
        <p class="code-frame-hint">
          <span class="quiet">Hint:</span> <Rich text={hint} />
        </p>
      )}
    </div>
  )
}

function FrameLine({ place }: { readonly place: NonNullable<Diagnostic['place']> }) {
  const { line, text } = place
  const at = Math.min((place.caret ?? place.column) - 1, text.length)
  const fault = word.exec(text.slice(at))?.[0] ?? ''
  return (
    <pre class="code-frame-line">
      <span class="line-number" aria-hidden="true">
        {line}
      </span>
      <bdi>
        {shown(piecesOf(text.slice(0, at), { isLine: true }))}
        <mark>{fault === '' ? '\u00a0' : shown(piecesOf(fault, { isLine: true }))}</mark>
        {shown(piecesOf(text.slice(at + fault.length), { isLine: true }))}
      </bdi>
    </pre>
  )
}

/** Errors come first, as the gateway lists them. */
export function DiagnosticList({
  diagnostics,
  folder,
  label,
  onGoTo,
}: {
  readonly diagnostics: readonly Diagnostic[]
  readonly folder?: string
  readonly label: string
  readonly onGoTo?: DiagnosticProps['onGoTo']
}) {
  return (
    <ul class="diagnostics" aria-label={label}>
      {diagnostics.map((diagnostic, index) => (
        <li key={index}>
          <CodeFrame diagnostic={diagnostic} folder={folder} onGoTo={onGoTo} />
        </li>
      ))}
    </ul>
  )
}

function placeText(
  { file, calledFile, line, column }: NonNullable<Diagnostic['place']>,
  folder = '',
): string {
  const isBelow = folder !== '' && file.startsWith(`${folder}/`)
  const name = isBelow ? file.slice(folder.length + 1) : (calledFile ?? file)
  return `${name}:${line}:${column}`
}

/** What stands between backquotes is code. */
export function Rich({ text }: { readonly text: string }): ComponentChildren {
  return text.split(/(`[^`]+`)/).map((part, index) =>
    index % 2 === 1 ? (
      <code key={index}>
        <Marked text={part.slice(1, -1)} />
      </code>
    ) : (
      part !== '' && <Marked text={part} />
    ),
  )
}
