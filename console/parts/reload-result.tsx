/**
 * The result of a reload, a rollback or a saved mapping, or its preview: diagnostics, changed names, and the new outcomes of stored
 * requests.
 */

import { changesParts } from '../../runtime/observe/changes-text.ts'
import { hrefOf } from '../browser/router.ts'
import { ApiError } from '../data/api.ts'
import type { Answer } from '../data/types.ts'
import { DiagnosticList } from './code-frame.tsx'
import { Marked } from './marked.tsx'
import { text } from './record.tsx'
import { counted, Time } from './words.tsx'

export type DryRun = Extract<Answer<'reload'>, { readonly reload: unknown }>
export type ReloadResult = DryRun['reload']
type Changes = ReloadResult['changes']
type Shadow = NonNullable<DryRun['shadow']>

/** A refused candidate is answered 409 with the same body. */
export async function acceptRefusal<Body>(answer: Promise<Body>): Promise<Body> {
  try {
    return await answer
  } catch (error) {
    const { body } = error instanceof ApiError ? error : { body: undefined }
    const isResult = (name: string) => typeof body === 'object' && body !== null && name in body
    if (['reload', 'outcome', 'diagnostics'].some(isResult)) return body as Body
    throw error
  }
}

export function outcomeText({ outcome, generation }: ReloadResult): string {
  if (outcome === 'live') return `Generation ${generation} is live.`
  return outcome === 'unchanged'
    ? `Nothing changed: generation ${generation} is live already.`
    : `Refused: generation ${generation} stays live.`
}

const wouldBe = { live: 'would go live', unchanged: 'would change nothing', rejected: 'would be refused' }

interface DryRunProps {
  readonly dry: DryRun
  /** Begins a sentence: `a reload of the files`. */
  readonly subject: string
}

export function DryRunView({ dry: { reload, shadow }, subject }: DryRunProps) {
  return (
    <div class="stack">
      <p class={`edge note tone-${reload.ok ? 'good' : 'bad'}`}>
        Dry run: {subject} {wouldBe[reload.outcome]}.
      </p>
      {reload.diagnostics.length > 0 && (
        <DiagnosticList diagnostics={reload.diagnostics} label="Messages of the dry run" />
      )}
      {reload.ok && <ChangesView changes={reload.changes} />}
      {shadow !== undefined && <ShadowView shadow={shadow} />}
    </div>
  )
}

const maxDifferences = 20

function ShadowView({ shadow: { compared, same, summary, differences } }: { readonly shadow: Shadow }) {
  if (compared === 0) return <p class="quiet">No stored request has its body, so nothing was compared.</p>
  return (
    <>
      <p>
        {same === compared
          ? `None of ${counted(compared, 'stored request')} with a body would have a different result.`
          : `${compared - same} of ${counted(compared, 'stored request')} with a body would have a different result.`}{' '}
        {summary.join('; ')}
      </p>
      <ul>
        {differences.slice(0, maxDifferences).map(({ id, endpoint, receivedAt, change }) => (
          <li key={id}>
            <a href={hrefOf(`/requests/${id}`)}>
              <Marked text={endpoint} /> at <Time at={receivedAt} />
            </a>{' '}
            {change}
          </li>
        ))}
        {differences.length > maxDifferences && <li>and {differences.length - maxDifferences} more</li>}
      </ul>
    </>
  )
}

/** A line for each kind of change. */
export function ChangesView({ changes }: { readonly changes: Changes }) {
  const parts = changesParts(changes)
  if (parts.length === 0)
    return <p class="quiet">No mapping, endpoint, transform or setting differs by name.</p>
  return (
    <ul>
      {parts.map((part) => (
        <li key={part}>{text(part)}</li>
      ))}
    </ul>
  )
}
