/** Shows why a request ended, or would end, as it did: the decision, each mapping with the clause that failed, and what was rendered. */

import type { ActionTrace, CandidateTrace, Decision, Explanation, Segment, Stop } from '../data/types.ts'
import { Badge } from './badge.tsx'
import { Code, Marked, shown, TextBlock } from './marked.tsx'
import { piecesOf } from './pieces.ts'
import { type Fact, Facts, text } from './record.tsx'
import { counted } from './words.tsx'

interface TraceProps {
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
    <div class="stack">
      {decision !== undefined && (
        <DecisionView decision={decision} status={status} isPast={mood === 'was'} explanation={explanation} />
      )}
      {stops.length > 0 && <Stops stops={stops} />}
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

interface DecisionProps {
  readonly decision: Decision
  readonly status: number | undefined
  readonly isPast: boolean
  readonly explanation: Explanation
}

/** The decision as a sentence. */
function DecisionView({ decision, status, isPast, explanation }: DecisionProps) {
  const { outcome, code, details = [] } = decision
  const sentence = decision.message ?? decision.reason
  return (
    <div class="stack" data-outcome={outcome}>
      <p class="lead">
        <Badge state={outcome} /> {summary(decision, isPast, explanation)}
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

function summary({ outcome, mapping: decided }: Decision, isPast: boolean, explanation: Explanation) {
  const { candidates, actions = [] } = explanation
  const name = decided ?? candidates.find(({ verdict }) => verdict === 'matched')?.mapping
  const mapping = name !== undefined && <Code text={name} />
  const say = (past: string, otherwise: string) => (isPast ? past : otherwise)
  if (outcome === 'ignored')
    return `${say('No mapping matched', 'No mapping matches')}, of ${counted(candidates.length, 'mapping')} of this endpoint.`
  const [before, after] = {
    accepted: [`${say('It was accepted', 'It would be accepted')}: `, ` ${verbs(actions, isPast)}.`],
    skipped: ['', say(' matched, and did nothing.', ' matches, and would do nothing.')],
    failed: [`${say('It failed', 'It would fail')}${mapping ? ' in ' : ''}`, '.'],
  }[outcome] ?? [`${say('It was refused', 'It would be refused')}${mapping ? ' by ' : ''}`, '.']
  return (
    <>
      {before}
      {mapping || (outcome === 'accepted' && 'the endpoint')}
      {after}
    </>
  )
}

function verbs(actions: readonly ActionTrace[], isPast: boolean): string {
  const wakes = actions.filter(({ fields }) => fields.some(({ field }) => field === 'text')).length
  const runs = actions.length - wakes
  const [run, wake] = isPast ? ['ran', 'woke'] : ['runs', 'wakes']
  const parts = [
    runs > 0 && (runs === 1 ? `${run} an agent` : `${run} ${runs} agents`),
    wakes > 0 && `${wake} the main session${wakes === 1 ? '' : ` ${wakes} times`}`,
  ]
  return parts.filter(Boolean).join(' and ') || (isPast ? 'accepted it' : 'accepts it')
}

function detailText(detail: unknown): string {
  if (typeof detail !== 'object' || detail === null) return String(detail)
  const { pointer = '', message = '' } = detail as { pointer?: string; message?: string }
  return `${pointer} ${message}`.trim()
}

/** Where a dry run stopped a transform that wanted to reach out. */
function Stops({ stops }: { readonly stops: readonly Stop[] }) {
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

const verdicts: Readonly<Record<CandidateTrace['verdict'], Parameters<typeof Badge>[0]>> = {
  matched: { state: 'matched' },
  failed: { state: 'did not match', tone: 'warn' },
  'not-reached': { state: 'not reached' },
  disabled: { state: 'disabled' },
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
              <Badge {...verdicts[verdict]} />
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

function ActionView({ action, title }: { readonly action: ActionTrace; readonly title: string }) {
  const { mapping, vars, fields, segments, prompt: whole } = action
  const prompt = fields.find(({ field }) => field === 'message' || field === 'text')
  return (
    <section class="stack">
      <h3>
        {title} <span class="quiet">of</span> <Code text={mapping} />
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
