/** Shows why a request ended, or would end, as it did: the decision, each mapping with the clause that failed, and what was rendered. */

import type { ActionTrace, CandidateTrace, Decision, DryRun } from '../data/types.ts'
import { Badge } from './badge.tsx'
import { Code, Marked, shown, TextBlock } from './marked.tsx'
import { FieldErrors } from './notice.tsx'
import { piecesOf } from './pieces.ts'
import { type Fact, Facts, text } from './record.tsx'
import { counted } from './words.tsx'

type TraceProps = Pick<DryRun, 'decision' | 'status' | 'stops'> & {
  readonly explanation?: Partial<NonNullable<DryRun['explanation']>> | undefined
}

export function Trace({ decision, status, explanation = {}, stops = [] }: TraceProps) {
  const { candidates = [], actions = [] } = explanation
  return (
    <div class="stack">
      {decision !== undefined && <DecisionView decision={decision} status={status} />}
      {stops.length > 0 && <Stops stops={stops} />}
      <Candidates candidates={candidates} />
      {actions.map((action, index) => (
        <ActionView key={index} action={action} />
      ))}
    </div>
  )
}

interface DecisionProps {
  readonly decision: Decision
  readonly status: number | undefined
}

function DecisionView({ decision, status }: DecisionProps) {
  const { outcome, mapping, code, message, reason = message, details = [] } = decision
  return (
    <div class="stack" data-outcome={outcome}>
      <p class="lead">
        <Badge state={outcome} /> {mapping !== undefined && 'by '}
        {mapping !== undefined && <Code text={mapping} />}{' '}
        {status !== undefined && <span class="quiet">HTTP {status}</span>}
      </p>
      {reason !== undefined && (
        <p>
          {code !== undefined && <code>{code}</code>} <Marked text={reason} />
        </p>
      )}
      <FieldErrors errors={details} />
    </div>
  )
}

/** Where a dry run stopped a transform that wanted to reach out. */
function Stops({ stops }: { readonly stops: NonNullable<DryRun['stops']> }) {
  return (
    <div class="edge note tone-warn">
      <p>This dry run stopped {counted(stops.length, 'call')}. Without that, the result may differ.</p>
      <ul>
        {stops.map(({ module, target, place }, index) => (
          <li key={index}>
            <Code text={module} /> wanted to reach <Code text={target} />
            {place !== undefined && ' at '}
            {place !== undefined && <Code text={place} />}
          </li>
        ))}
      </ul>
    </div>
  )
}

function Candidates({ candidates }: { readonly candidates: readonly CandidateTrace[] }) {
  if (candidates.length === 0) return <p class="quiet">This endpoint has no mappings.</p>
  return (
    <section>
      <h3>Mappings, in the order in which they are tried</h3>
      <ol class="stack plain">
        {candidates.map(({ mapping, place, verdict, clause }) => (
          <li key={`${place} ${mapping}`} class="card candidate">
            <p class="line">
              {verdict === 'failed' ? <Badge state="did not match" tone="warn" /> : <Badge state={verdict} />}
              <strong>
                <Marked text={mapping} />
              </strong>
              <Code text={place} isQuiet />
            </p>
            {clause !== undefined && <Facts facts={clauseFacts(clause)} />}
          </li>
        ))}
      </ol>
    </section>
  )
}

/** In the words of `reveille explain`. */
function clauseFacts(clause: NonNullable<CandidateTrace['clause']>): Fact[] {
  const { path, expected, actual, error, isOnly, isNear } = clause
  const missing = path.startsWith('match.headers.') ? 'the header is missing' : 'nothing'
  const found = actual === undefined ? <span class="quiet">{missing}</span> : <OutsideCode text={actual} />
  return [
    ['clause', Code({ text: path })],
    ['expected', text(expected)],
    ['found', error === undefined ? found : `an error: ${error}`],
    ['near', isNear && 'it differs only in its type, its case or the space around it'],
    ['otherwise', isOnly && 'all other conditions match'],
  ]
}

function OutsideCode({ text: value }: { readonly text: string }) {
  return (
    <code class="outside">
      <Marked text={value} />
    </code>
  )
}

function ActionView({ action }: { readonly action: ActionTrace }) {
  const { mapping, vars, fields, segments, prompt: whole } = action
  const prompt = fields.find(({ field }) => field === 'message' || field === 'text')
  return (
    <section class="stack">
      <h3>
        {prompt?.field === 'text' ? 'Wakes the main session' : 'Runs an agent'} <span class="quiet">by</span>{' '}
        <Code text={mapping} />
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
      <Facts
        facts={[
          ...fields.filter((field) => field !== prompt).map(fieldFact),
          ...vars.map(
            ({ path, value }): Fact => [Code({ text: `vars.${path}` }), OutsideCode({ text: value })],
          ),
        ]}
      />
    </section>
  )
}

function fieldFact({ field, value, from, sources }: ActionTrace['fields'][number]): Fact {
  const taken = sources.map((source) => (
    <span key={source.path}>
      {' '}
      <Code text={source.path} />
      {from !== 'default' && ' = '}
      {from !== 'default' && <span class="outside">{text(source.value)}</span>}
    </span>
  ))
  return [
    Code({ text: field }),
    <>
      {text(value)} <span class="quiet">{from}</span> {taken}
    </>,
  ]
}

function Segments({ segments }: { readonly segments: NonNullable<ActionTrace['segments']> }) {
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
