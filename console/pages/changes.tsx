/** What is live, what was refused and why, what changed between two generations, and the ways back. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { announce } from '../browser/announce.tsx'
import { hrefOf, type PageProps, setQuery } from '../browser/router.ts'
import { ApiError, mayDo, post } from '../data/api.ts'
import { asApiError, useLoaded, useLoadedList, useReloadOn } from '../data/load.ts'
import type { Answer, ItemOf } from '../data/types.ts'
import { Badge } from '../parts/badge.tsx'
import { type Diagnostic, DiagnosticList, Rich } from '../parts/code-frame.tsx'
import { DiffView, FileChangeName } from '../parts/diff-view.tsx'
import { Marked } from '../parts/marked.tsx'
import { Empty, Loading, Problem } from '../parts/notice.tsx'
import { Ago, counted, duration, Time } from '../parts/time.tsx'

export type Generation = ItemOf<'listGenerations'>
type DryRun = Extract<Answer<'reload'>, { readonly reload: unknown }>
type ReloadResult = DryRun['reload']
type Changes = ReloadResult['changes']
type Shadow = NonNullable<DryRun['shadow']>
type FileChange = Answer<'compareGenerations'>['files'][number]

export default function ChangesPage({ query }: PageProps) {
  const list = useLoadedList<Generation>('/generations', { limit: 50 })
  useReloadOn((frame) => frame.reload === true || frame.generation !== undefined, list.reload)
  const items = list.data ?? []
  const live = items.find(({ state }) => state === 'live')
  const standing = items.find(({ stands }) => stands)
  const folder = folderOf(items)
  useRefusalAnnounced(standing, list.data !== undefined)
  return (
    <>
      <h1>Changes</h1>
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {list.data === undefined && list.isLoading && <Loading what="the generations" />}
      {live !== undefined && <Live live={live} standing={standing} folder={folder} reload={list.reload} />}
      {query.get('from') !== null && query.get('to') !== null && (
        <Comparison from={query.get('from') ?? ''} to={query.get('to') ?? ''} items={items} />
      )}
      {items.length > 0 && <History items={items} folder={folder} reload={list.reload} />}
      {list.loadMore !== undefined && (
        <button type="button" class="button" onClick={list.loadMore}>
          Show older ones
        </button>
      )}
    </>
  )
}

/** Says a new refusal, and its end, to those who do not see it appear. */
function useRefusalAnnounced(standing: Generation | undefined, isRead: boolean): void {
  const last = useRef<number | undefined>(undefined)
  const wasRead = useRef(false)
  useEffect(() => {
    if (!isRead) return
    if (wasRead.current && standing !== undefined && last.current !== standing.at) {
      announce(`The change on disk was refused, with ${counted(standing.diagnostics.length, 'message')}.`)
    }
    if (last.current !== undefined && standing === undefined) announce('The files are good again.')
    last.current = standing?.at
    wasRead.current = true
  }, [standing, isRead])
}

interface LiveProps {
  readonly live: Generation
  readonly standing: Generation | undefined
  readonly folder: string
  readonly reload: () => void
}

function Live({ live, standing, folder, reload }: LiveProps) {
  const warnings = live.diagnostics
  return (
    <section aria-label="What is live" class="card">
      <p class="lead">
        <Badge state="live" /> <strong>Generation {live.generation}</strong> serves{' '}
        {counted(live.mappings ?? 0, 'mapping')} since <Time at={live.at} /> (<Ago at={live.at} />)
        {live.by !== undefined && `, by order of ${live.by}`}.
      </p>
      {live.rolledBack && (
        <p class="edge tone-warn note">
          It was rolled back to, and stands in for the files until they change, or until a reload ends that.
        </p>
      )}
      {live.changes.restart.length > 0 && (
        <p class="edge tone-warn note">
          Waits for a restart: <Names names={live.changes.restart} />
        </p>
      )}
      {standing !== undefined && (
        <div class="refused" role="alert">
          <h2>
            The change on disk is refused <span class="quiet">since</span> <Time at={standing.at} />
          </h2>
          <p>
            Generation {live.generation} goes on serving. Save the file again when it is mended; nothing else
            has to be done.
          </p>
          <DiagnosticList diagnostics={standing.diagnostics} folder={folder} label="Why it is refused" />
        </div>
      )}
      {warnings.length > 0 && (
        <details>
          <summary>{counted(warnings.length, 'warning')} of what is live</summary>
          <DiagnosticList diagnostics={warnings} folder={folder} label="Warnings" />
        </details>
      )}
      <Step path="/reload" verb="Reload" what="a reload of the files" folder={folder} onDone={reload} />
    </section>
  )
}

interface StepProps {
  /** Below `/api`. */
  readonly path: string
  readonly verb: string
  readonly what: string
  readonly folder: string
  readonly onDone: () => void
}

/** Something that changes what is live: a dry run first, whose result says what would change, and then for real. */
function Step({ path, verb, what, folder, onDone }: StepProps) {
  const [state, setState] = useState<{
    isBusy: boolean
    dry?: DryRun
    done?: ReloadResult
    error?: ApiError
  }>({
    isBusy: false,
  })
  const result = useRef<HTMLDivElement>(null)

  async function run(isDry: boolean) {
    setState({ isBusy: true })
    try {
      const answer = await refusedToo(
        post<DryRun | ReloadResult>(path, undefined, isDry ? { dryRun: true } : {}),
      )
      setState({ isBusy: false, ...('reload' in answer ? { dry: answer } : { done: answer }) })
      if ('outcome' in answer) {
        announce(outcomeText(answer))
        onDone()
      }
    } catch (error) {
      setState({ isBusy: false, error: asApiError(error) })
    }
    result.current?.focus()
  }

  const { isBusy, dry, done, error } = state
  if (!mayDo('configure')) return null
  return (
    <div class="step">
      <p class="actions">
        <button type="button" class="button" disabled={isBusy} onClick={() => void run(true)}>
          {verb}: dry run
        </button>
        {dry?.reload.ok && (
          <button type="button" class="button primary" disabled={isBusy} onClick={() => void run(false)}>
            {verb} now
          </button>
        )}
        {isBusy && <span class="quiet">Working …</span>}
      </p>
      <div ref={result} tabIndex={-1} class="step-result">
        {error !== undefined && <Problem error={error} />}
        {dry !== undefined && <DryRunView dry={dry} what={what} folder={folder} />}
        {done !== undefined && (
          <>
            <p class={`edge note tone-${done.ok ? 'good' : 'bad'}`}>{outcomeText(done)}</p>
            {done.diagnostics.length > 0 && (
              <DiagnosticList diagnostics={done.diagnostics} folder={folder} label="Messages" />
            )}
          </>
        )}
      </div>
    </div>
  )
}

/** A refused candidate is answered 409 with the same body. */
async function refusedToo<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer
  } catch (error) {
    const { body } = error instanceof ApiError ? error : { body: undefined }
    if (typeof body === 'object' && body !== null && ('reload' in body || 'outcome' in body))
      return body as Answer
    throw error
  }
}

function outcomeText({ outcome, generation }: ReloadResult): string {
  if (outcome === 'live') return `Generation ${generation} is live.`
  return outcome === 'unchanged'
    ? `Nothing changed: generation ${generation} is live already.`
    : `Refused: generation ${generation} goes on serving.`
}

function DryRunView({
  dry: { reload, shadow },
  what,
  folder,
}: {
  dry: DryRun
  what: string
  folder: string
}) {
  return (
    <div class="dry-run">
      <p class={`edge note tone-${reload.ok ? 'good' : 'bad'}`}>
        {reload.outcome === 'live' && `Dry run: ${what} would go live.`}
        {reload.outcome === 'unchanged' && `Dry run: ${what} would change nothing.`}
        {reload.outcome === 'rejected' && `Dry run: ${what} would be refused.`}
      </p>
      {reload.diagnostics.length > 0 && (
        <DiagnosticList diagnostics={reload.diagnostics} folder={folder} label="Messages of the dry run" />
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
    <div class="shadow">
      <p>
        Of the last {counted(compared, 'request')} with a body, {same === compared ? 'all' : same} would end
        the same. {summary.join('; ')}
      </p>
      {differences.length > 0 && (
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
      )}
    </div>
  )
}

function History({
  items,
  folder,
  reload,
}: {
  items: readonly Generation[]
  folder: string
  reload: () => void
}) {
  return (
    <section aria-label="Generations">
      <h2>Generations</h2>
      <ol class="generations">
        {items.map((item, index) => (
          <li key={`${item.at} ${item.generation} ${item.digest}`}>
            <Entry item={item} before={olderOf(items, index)} folder={folder} reload={reload} />
          </li>
        ))}
      </ol>
    </section>
  )
}

/** The generation that was live before this one, as far as the list knows. */
function olderOf(items: readonly Generation[], index: number): number | undefined {
  const { generation: own } = items[index] ?? {}
  return items.slice(index + 1).find(({ generation }) => generation !== undefined && generation !== own)
    ?.generation
}

function Entry({
  item,
  before,
  folder,
  reload,
}: {
  readonly item: Generation
  readonly before: number | undefined
  readonly folder: string
  readonly reload: () => void
}) {
  const { generation, state, at, by, tookMs, changes, diagnostics } = item
  const name = generation === undefined ? 'A refused change' : `Generation ${generation}`
  return (
    <details class="generation" data-generation={generation ?? 'refused'}>
      <summary>
        <span class="generation-name">{name}</span> <Badge state={state} />
        <span class="quiet">
          <Time at={at} />
          {by !== undefined && ` by ${by}`}
        </span>
        <span class="generation-what">
          <Rich text={state === 'rejected' ? refusalText(diagnostics) : changesText(changes)} />
        </span>
      </summary>
      <div class="generation-body">
        <p class="quiet">
          Loaded and checked in {duration(tookMs)}.{' '}
          {item.digest !== undefined && (
            <>
              Digest <code>{item.digest.slice(0, 12)}</code>.
            </>
          )}
        </p>
        {state !== 'rejected' && <ChangesView changes={changes} />}
        {diagnostics.length > 0 && (
          <DiagnosticList diagnostics={diagnostics} folder={folder} label={`Messages of ${name}`} />
        )}
        {generation !== undefined && before !== undefined && (
          <p class="actions">
            <button
              type="button"
              class="button"
              onClick={() => setQuery({ from: String(before), to: String(generation) })}
            >
              Compare files with generation {before}
            </button>
          </p>
        )}
        {state === 'retired' && (
          <Step
            path={`/generations/${generation}/rollback`}
            verb={`Roll back to ${generation}`}
            what={`a rollback to generation ${generation}`}
            folder={folder}
            onDone={reload}
          />
        )}
      </div>
    </details>
  )
}

function refusalText(diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  const [first] = errors
  if (first === undefined) return 'refused'
  return errors.length === 1 ? first.message : `${first.message} (and ${errors.length - 1} more)`
}

const kinds = ['mappings', 'endpoints', 'transforms'] as const

/** `2 mappings changed, 1 added`. */
function changesText(changes: Changes): string {
  const parts = kinds.flatMap((kind) =>
    (['added', 'changed', 'removed'] as const).flatMap((how) => {
      const { length } = changes[kind][how]
      return length === 0 ? [] : [`${counted(length, kind.slice(0, -1))} ${how}`]
    }),
  )
  if (changes.mappings.reordered) parts.push('mappings in another order')
  if (changes.settings.length > 0) parts.push(`${counted(changes.settings.length, 'setting')} changed`)
  return parts.length === 0 ? 'no named change' : parts.join(', ')
}

function ChangesView({ changes }: { readonly changes: Changes }) {
  const rows = kinds.flatMap((kind) =>
    (['added', 'changed', 'removed'] as const).flatMap((how) =>
      changes[kind][how].length === 0 ? [] : [{ title: `${kind} ${how}`, names: changes[kind][how] }],
    ),
  )
  if (changes.settings.length > 0) rows.push({ title: 'settings changed', names: changes.settings })
  if (rows.length === 0)
    return <p class="quiet">No mapping, endpoint, transform or setting differs by name.</p>
  return (
    <dl class="fields">
      {rows.map(({ title, names }) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>
            <Names names={names} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

const maxNames = 30

function Names({ names }: { readonly names: readonly string[] }) {
  return (
    <>
      {names.slice(0, maxNames).map((name, index) => (
        <span key={name}>
          {index > 0 && ', '}
          <code>
            <Marked text={name} />
          </code>
        </span>
      ))}
      {names.length > maxNames && ` and ${names.length - maxNames} more`}
    </>
  )
}

function Comparison({ from, to, items }: { from: string; to: string; items: readonly Generation[] }) {
  const { data, error, isLoading } = useLoaded<{ files: readonly FileChange[] }>(
    `/generations/${encodeURIComponent(to)}/compare`,
    { with: from },
  )
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    heading.current?.focus()
    heading.current?.scrollIntoView({ block: 'start' })
  }, [from, to])
  const numbers = [...new Set(items.flatMap(({ generation }) => generation ?? []))].sort(
    (one, other) => other - one,
  )
  const choice = (name: 'from' | 'to', value: string) => (
    <label>
      {name === 'from' ? 'From generation' : 'To generation'}
      <select value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        {numbers.map((number) => (
          <option key={number} value={String(number)}>
            {number}
          </option>
        ))}
      </select>
    </label>
  )
  return (
    <section class="comparison card" aria-label="Comparison">
      <h2 ref={heading} tabIndex={-1}>
        Generation {from} to {to}
      </h2>
      <div class="actions">
        {choice('from', from)} {choice('to', to)}
        <button type="button" class="button" onClick={() => setQuery({ from: undefined, to: undefined })}>
          Close the comparison
        </button>
      </div>
      {error !== undefined && <Problem error={error} />}
      {data === undefined && isLoading && <Loading what="the files" />}
      {data?.files.length === 0 && (
        <Empty title="The files are the same.">
          A value of the environment, the target of a reference or a transform may differ; those are not kept
          as text.
        </Empty>
      )}
      {data?.files.map(({ name, change, before = '', after = '', isCut }) => (
        <section key={name} class="file-change">
          <h3>
            <FileChangeName name={name} change={change} />
          </h3>
          {isCut ? (
            <p class="quiet">It is too long to be shown here.</p>
          ) : (
            <DiffView name={name} before={before} after={after} />
          )}
        </section>
      ))}
    </section>
  )
}

/** The folder that the files of the diagnostics have in common, so that their names are short. */
function folderOf(items: readonly Generation[]): string {
  const files = items.flatMap(({ diagnostics }) => diagnostics.flatMap(({ place }) => place?.file ?? []))
  const [first, ...others] = files.map((file) => file.split('/'))
  if (first === undefined) return ''
  let length = first.length - 1
  for (const parts of others)
    while (parts.slice(0, length).join('/') !== first.slice(0, length).join('/')) length--
  // A file of its own folder is better known with it: mappings/github.yaml.
  if (first[length - 1] === 'mappings') length--
  return first.slice(0, length).join('/')
}
