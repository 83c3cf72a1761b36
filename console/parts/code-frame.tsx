/** Shows a diagnostic at its line: the place, the line with the fault marked, what is wrong and how to fix it. */

import type { ItemOf } from '../data/types.ts'
import { Badge } from './badge.tsx'
import { Button } from './controls.tsx'
import { Code, Rich, shown } from './marked.tsx'
import { piecesOf } from './pieces.ts'

/** As the gateway writes it. Line, column and caret count from 1. */
export type Diagnostic = ItemOf<'listGenerations'>['diagnostics'][number]

/** The word that a place points to. */
const word = /^(?:["'][^"']*["']|[\w.$-]+|\S|$)/

interface DiagnosticsProps {
  readonly diagnostics: readonly Diagnostic[]
  readonly label: string
  /** Called with the place, where it can be gone to. */
  readonly onGoTo?: (line: number, column: number) => void
}

/** Errors come first, as the gateway lists them. */
export function DiagnosticList({ diagnostics, label, onGoTo }: DiagnosticsProps) {
  return (
    <ul class="stack plain" aria-label={label}>
      {diagnostics.map(({ severity, code, message, place, hint }, index) => (
        <li key={index} class={`card edge tone-${severity === 'error' ? 'bad' : 'warn'}`}>
          <p>
            <Badge state={severity} tone={severity === 'error' ? 'bad' : 'warn'} /> <Rich text={message} />{' '}
            <code class="quiet">{code}</code>
          </p>
          {place !== undefined && (
            <p class="line" title={place.file}>
              <Code text={placeText(place)} />
              {onGoTo !== undefined && (
                <Button class="small" onClick={() => onGoTo(place.line, place.column)}>
                  Go to line {place.line}
                </Button>
              )}
            </p>
          )}
          {place !== undefined && place.text.trim() !== '' && <FrameLine place={place} />}
          {hint !== undefined && (
            <p>
              <span class="quiet">Hint:</span> <Rich text={hint} />
            </p>
          )}
        </li>
      ))}
    </ul>
  )
}

function FrameLine({ place }: { readonly place: NonNullable<Diagnostic['place']> }) {
  const { line, text } = place
  const at = Math.min((place.caret ?? place.column) - 1, text.length)
  const fault = word.exec(text.slice(at))?.[0] ?? ''
  return (
    <pre class="code-frame-line">
      <span class="quiet" aria-hidden="true">{`${line}  `}</span>
      <bdi>
        {shown(piecesOf(text.slice(0, at), { isLine: true }))}
        <mark>{fault === '' ? '\u00a0' : shown(piecesOf(fault, { isLine: true }))}</mark>
        {shown(piecesOf(text.slice(at + fault.length), { isLine: true }))}
      </bdi>
    </pre>
  )
}

/** A file is known by its name and that of its folder; the whole path is where the pointer rests. */
function placeText({ file, calledFile, line, column }: NonNullable<Diagnostic['place']>): string {
  const name = calledFile ?? file.split(/[\\/]/).slice(-2).join('/')
  return `${name}:${line}:${column}`
}
