/** Shows why a request ended, or would end, as it did: the decision, each mapping with the clause that failed, and what was rendered. */

import type { ComponentChildren } from 'preact'
import type { ActionTrace, CandidateTrace, Decision, Explanation, Segment, Stop } from '../data/types.ts'
import { Badge } from './badge.tsx'
import { Marked, shown, TextBlock } from './marked.tsx'
import { piecesOf } from './pieces.ts'
import { counted } from './time.tsx'

export interface TraceProps {
  readonly explanation: Explanation
  readonly stops?: readonly Stop[]
  /** The HTTP status that the sender was answered, or would be. */
  readonly status?: number
  /** `was`: it happened. `would`: it is tried. */
  readonly mood?: 'was' | 'would'
}

export function Trace({ explanation, stops = [], status, mood = 'was' }: TraceProps) {
  const { decision, candidates, actions = [] } = explanation
  return (
    <div class="trace">
      {decision !== undefined && (
        <DecisionView decision={decision} status={status} mood={mood} explanation={explanation} />
      )}
      <Stops stops={stops} />
      <Candidates candidates={candidates} />
      {actions.map((action, index) => (
        <ActionView
          key={index}
          action={action}
          title={
            actions.length === 1 ? 'Rendered action' : `Rendered action ${index + 1} of ${actions.length}`
          }
        />
      ))}
    </div>
  )
}

/** The decision as a sentence. */
function DecisionView({
  decision,
  status,
  mood,
  explanation,
}: {
  readonly decision: Decision
  readonly status: number | undefined
  readonly mood: 'was' | 'would'
  readonly explanation: Explanation
}) {
  const { outcome, code, details = [] } = decision
  const sentence = decision.message ?? decision.reason
  return (
    <div class="decision" data-outcome={outcome}>
      <p class="decision-line">
        <Badge state={outcome} /> <span>{summary(decision, mood, explanation)}</span>
        {status !== undefined && <span class="quiet"> HTTP {status}</span>}
      </p>
      {sentence !== undefined && (
        <p>
          {code !== undefined && <code>{code}</code>} <Marked text={sentence} />
        </p>
      )}
      {details.length > 0 && (
        <ul>
          {details.map((detail, index) => (
            <li key={index}>
              <Marked text={detailText(detail)} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function summary(
  decision: Decision,
  mood: 'was' | 'would',
  { candidates: tried, actions = [] }: Explanation,
): ComponentChildren {
  const { outcome } = decision
  const isPast = mood === 'was'
  const name = decision.mapping ?? tried.find(({ verdict }) => verdict === 'matched')?.mapping
  const mapping = name !== undefined && (
    <code>
      <Marked text={name} />
    </code>
  )
  switch (outcome) {
    case 'accepted':
      return (
        <>
          {isPast ? 'It was accepted' : 'It would be accepted'}: {mapping || 'the endpoint'}{' '}
          {verbs(actions, mood)}.
        </>
      )
    case 'ignored':
      return (
        <>
          {isPast ? 'No mapping matched' : 'No mapping matches'}, of {counted(tried.length, 'mapping')} of
          this endpoint.
        </>
      )
    case 'skipped':
      return (
        <>
          {mapping} {isPast ? 'matched, and did nothing.' : 'matches, and would do nothing.'}
        </>
      )
    case 'failed':
      return (
        <>
          {isPast ? 'It failed' : 'It would fail'}
          {mapping && <> in {mapping}</>}.
        </>
      )
    default:
      return (
        <>
          {isPast ? 'It was refused' : 'It would be refused'}
          {mapping && <> by {mapping}</>}.
        </>
      )
  }
}

function verbs(actions: readonly ActionTrace[], mood: 'was' | 'would'): string {
  const wakes = actions.filter(({ fields }) => fields.some(({ field }) => field === 'text')).length
  const runs = actions.length - wakes
  const parts = [
    ...(runs === 0 ? [] : [runs === 1 ? 'runs an agent' : `runs ${runs} agents`]),
    ...(wakes === 0
      ? []
      : [wakes === 1 ? 'wakes the main session' : `wakes the main session ${wakes} times`]),
  ]
  if (parts.length === 0) return 'takes it'
  const text = parts.join(' and ')
  return mood === 'was' ? text.replace(/^runs/, 'ran').replaceAll('wakes the', 'woke the') : text
}

function detailText(detail: unknown): string {
  if (typeof detail !== 'object' || detail === null) return String(detail)
  const { pointer = '', message = '' } = detail as { pointer?: string; message?: string }
  return `${pointer} ${message}`.trim()
}

/** Where a dry run stopped a transform that wanted to reach out. */
function Stops({ stops }: { readonly stops: readonly Stop[] }) {
  if (stops.length === 0) return null
  return (
    <div class="stops note tone-warn">
      <p>
        {stops.length === 1
          ? 'This dry run stopped one call.'
          : `This dry run stopped ${stops.length} calls.`}{' '}
        Without that, it may end in another way.
      </p>
      <ul>
        {stops.map(({ module, target, place }, index) => (
          <li key={index}>
            <code>
              <Marked text={module} />
            </code>{' '}
            wanted to reach{' '}
            <code>
              <Marked text={target} />
            </code>
            {place !== undefined && (
              <>
                {' '}
                at{' '}
                <code>
                  <Marked text={place} />
                </code>
              </>
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}

const verdicts: Readonly<Record<CandidateTrace['verdict'], string>> = {
  matched: 'matched',
  failed: 'did not match',
  'not-reached': 'not reached',
  disabled: 'disabled',
}

function Candidates({ candidates }: { readonly candidates: readonly CandidateTrace[] }) {
  if (candidates.length === 0) return <p class="quiet">This endpoint has no mappings.</p>
  return (
    <section>
      <h3>Mappings, in the order in which they are tried</h3>
      <ol class="candidates">
        {candidates.map((candidate) => (
          <li key={`${candidate.place} ${candidate.mapping}`} class={`candidate is-${candidate.verdict}`}>
            <p class="candidate-line">
              <Badge state={candidate.verdict} tone={candidate.verdict === 'failed' ? 'warn' : undefined} />
              <strong>
                <Marked text={candidate.mapping} />
              </strong>
              <span class="visually-hidden">{verdicts[candidate.verdict]}</span>
              <code class="quiet">
                <Marked text={candidate.place} />
              </code>
            </p>
            {candidate.clause !== undefined && <Clause clause={candidate.clause} />}
          </li>
        ))}
      </ol>
    </section>
  )
}

function Clause({ clause }: { readonly clause: NonNullable<CandidateTrace['clause']> }) {
  const { path, expected, actual, error, isOnly, isNear } = clause
  return (
    <dl class="clause">
      <div>
        <dt>Clause</dt>
        <dd>
          <code>
            <Marked text={path} />
          </code>
        </dd>
      </div>
      <div>
        <dt>Expected</dt>
        <dd>
          <Marked text={expected} />
        </dd>
      </div>
      <div>
        <dt>Found</dt>
        <dd>
          {actual === undefined ? (
            <span class="quiet">no such field</span>
          ) : (
            <code class="outside">
              <Marked text={actual} />
            </code>
          )}
        </dd>
      </div>
      {isNear && (
        <div>
          <dt>Near</dt>
          <dd>it differs only in its type, its case or the space around it</dd>
        </div>
      )}
      {isOnly && (
        <div>
          <dt>Else</dt>
          <dd>all other conditions match</dd>
        </div>
      )}
      {error !== undefined && (
        <div>
          <dt>Error</dt>
          <dd>
            <Marked text={error} />
          </dd>
        </div>
      )}
    </dl>
  )
}

function ActionView({ action, title }: { readonly action: ActionTrace; readonly title: string }) {
  const { mapping, vars, fields, segments, prompt: whole } = action
  const prompt = fields.find(({ field }) => field === 'message' || field === 'text')
  return (
    <section class="rendered">
      <h3>
        {title} <span class="quiet">of</span>{' '}
        <code>
          <Marked text={mapping} />
        </code>
      </h3>
      {prompt !== undefined && (
        <>
          <p class="quiet">
            <code>{prompt.field}</code>; <span class="outside">values from outside</span> are marked.
          </p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard. */}
          <section class="text-block" tabIndex={0} aria-label={`Rendered ${prompt.field}`}>
            <bdi>
              <Segments segments={segments ?? [{ literal: prompt.value }]} />
            </bdi>
          </section>
        </>
      )}
      {whole !== undefined && (
        <details>
          <summary>What the model sees, with the boundary around those values</summary>
          <TextBlock text={whole} label="Prompt" />
        </details>
      )}
      <dl class="fields">
        {fields
          .filter((field) => field !== prompt)
          .map(({ field, value, from, sources }) => (
            <div key={field}>
              <dt>
                <code>
                  <Marked text={field} />
                </code>
              </dt>
              <dd>
                <Marked text={value} /> <span class="quiet">{from}</span>{' '}
                {sources.map(({ path, value: taken }) => (
                  <span key={path} class="source">
                    <code>
                      <Marked text={path} />
                    </code>
                    {from !== 'default' && ' = '}
                    {from !== 'default' && (
                      <span class="outside">
                        <Marked text={taken} />
                      </span>
                    )}
                  </span>
                ))}
              </dd>
            </div>
          ))}
        {vars.map(({ path, value }) => (
          <div key={`vars.${path}`}>
            <dt>
              <code>
                <Marked text={`vars.${path}`} />
              </code>
            </dt>
            <dd>
              <span class="outside">
                <Marked text={value} />
              </span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

function Segments({ segments }: { readonly segments: readonly Segment[] }) {
  return segments.map((segment, index) =>
    'literal' in segment ? (
      shown(piecesOf(segment.literal))
    ) : (
      <span key={index} class="outside" title={segment.path}>
        {shown(piecesOf(segment.value))}
      </span>
    ),
  )
}
