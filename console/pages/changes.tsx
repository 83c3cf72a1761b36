/** The live generation, the refused ones, the changes between two generations, and the ways back. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { announce } from '../browser/announce.tsx'
import { type PageProps, setQuery } from '../browser/router.ts'
import { type ApiError, mayDo, post } from '../data/api.ts'
import { asApiError, useLoaded, useLoadedList, useReloadOn } from '../data/load.ts'
import type { Answer, ItemOf } from '../data/types.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { type Diagnostic, DiagnosticList } from '../parts/code-frame.tsx'
import { DiffView } from '../parts/diff-view.tsx'
import { Code, Rich } from '../parts/marked.tsx'
import { Empty, LoadedView, Loading, Problem } from '../parts/notice.tsx'
import {
  acceptRefusal,
  ChangesView,
  changesText,
  type DryRun,
  DryRunView,
  Names,
  outcomeText,
  type ReloadResult,
} from '../parts/reload-result.tsx'
import { Ago, counted, duration, Time } from '../parts/time.tsx'

type Generation = ItemOf<'listGenerations'>

export default function ChangesPage({ query }: PageProps) {
  const list = useLoadedList<Generation>('/generations', { limit: 50 })
  const { data, error, loadMore, reload } = list
  useReloadOn((frame) => frame.reload === true || frame.generation !== undefined, reload)
  const items = data ?? []
  const live = items.find(({ state }) => state === 'live')
  const currentRefusal = items.find(({ isCurrent }) => isCurrent)
  const folder = folderOf(items)
  const [from, to] = [query.get('from'), query.get('to')]
  useRefusalAnnounced(currentRefusal, data !== undefined)
  return (
    <>
      <h1>Changes</h1>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {data === undefined && list.isLoading && <Loading label="the generations" />}
      {live !== undefined && (
        <Live live={live} currentRefusal={currentRefusal} folder={folder} reload={reload} />
      )}
      {from !== null && to !== null && <Comparison from={from} to={to} items={items} />}
      {items.length > 0 && (
        <section aria-label="Generations">
          <h2>Generations</h2>
          <ol class="stack plain">
            {items.map((item, index) => (
              <li key={`${item.at} ${item.generation} ${item.digest}`}>
                <Entry item={item} before={olderOf(items, index)} folder={folder} reload={reload} />
              </li>
            ))}
          </ol>
        </section>
      )}
      {loadMore !== undefined && <Button onClick={loadMore}>Show older ones</Button>}
    </>
  )
}

/** Says a new refusal, and its end, to those who do not see it appear. */
function useRefusalAnnounced(currentRefusal: Generation | undefined, isRead: boolean): void {
  const last = useRef<number | undefined>(undefined)
  const wasRead = useRef(false)
  useEffect(() => {
    if (!isRead) return
    if (wasRead.current && currentRefusal !== undefined && last.current !== currentRefusal.at)
      announce(`Your last change was refused, with ${counted(currentRefusal.diagnostics.length, 'message')}.`)
    if (last.current !== undefined && currentRefusal === undefined) announce('The files are good again.')
    last.current = currentRefusal?.at
    wasRead.current = true
  }, [currentRefusal, isRead])
}

interface LiveProps {
  readonly live: Generation
  readonly currentRefusal: Generation | undefined
  readonly folder: string
  readonly reload: () => void
}

function Live({ live, currentRefusal, folder, reload }: LiveProps) {
  const warnings = live.diagnostics
  return (
    <section aria-label="Live generation" class="card">
      <p class="lead">
        <Badge state="live" /> <strong>Generation {live.generation}</strong> with{' '}
        {counted(live.mappings ?? 0, 'mapping')} since <Time at={live.at} /> (<Ago at={live.at} />)
        {live.by !== undefined && `, by ${live.by}`}.
      </p>
      {live.rolledBack && (
        <p class="edge tone-warn note">
          It was rolled back to. It stays live until the files change, or until a reload.
        </p>
      )}
      {live.changes.restart.length > 0 && (
        <p class="edge tone-warn note">
          Waits for a restart: <Names names={live.changes.restart} />
        </p>
      )}
      {currentRefusal !== undefined && (
        <div class="card refused" role="alert">
          <h2>
            Your last change was refused <span class="quiet">at</span> <Time at={currentRefusal.at} />
          </h2>
          <p>Generation {live.generation} is still live. The files are loaded again when you save.</p>
          <DiagnosticList
            diagnostics={currentRefusal.diagnostics}
            folder={folder}
            label="Why it was refused"
          />
        </div>
      )}
      {warnings.length > 0 && (
        <details>
          <summary>{counted(warnings.length, 'warning')}</summary>
          <DiagnosticList diagnostics={warnings} folder={folder} label="Warnings" />
        </details>
      )}
      <Step path="/reload" verb="Reload" subject="a reload of the files" folder={folder} onDone={reload} />
    </section>
  )
}

interface StepProps {
  /** Below `/api`. */
  readonly path: string
  readonly verb: string
  readonly subject: string
  readonly folder: string
  readonly onDone: () => void
}

interface StepState {
  readonly isBusy: boolean
  readonly dry?: DryRun
  readonly done?: ReloadResult
  readonly error?: ApiError
}

/** Something that changes what is live: a dry run first, whose result says what would change, and then for real. */
function Step({ path, verb, subject, folder, onDone }: StepProps) {
  const [{ isBusy, dry, done, error }, setState] = useState<StepState>({ isBusy: false })
  const result = useRef<HTMLDivElement>(null)

  async function run(isDry: boolean) {
    setState({ isBusy: true })
    try {
      const answer = await acceptRefusal(
        post<DryRun | ReloadResult>(path, undefined, isDry ? { dryRun: true } : {}),
      )
      setState({ isBusy: false, ...('reload' in answer ? { dry: answer } : { done: answer }) })
      if ('outcome' in answer) {
        announce(outcomeText(answer))
        onDone()
      }
    } catch (cause) {
      setState({ isBusy: false, error: asApiError(cause) })
    }
    result.current?.focus()
  }

  if (!mayDo('configure')) return null
  return (
    <div class="stack">
      <p class="toolbar">
        <Button disabled={isBusy} onClick={() => void run(true)}>
          {verb}: dry run
        </Button>
        {dry?.reload.ok && (
          <Button class="primary" disabled={isBusy} onClick={() => void run(false)}>
            {verb} now
          </Button>
        )}
        {isBusy && <span class="quiet">Working …</span>}
      </p>
      <div ref={result} tabIndex={-1}>
        {error !== undefined && <Problem error={error} />}
        {dry !== undefined && <DryRunView dry={dry} subject={subject} folder={folder} />}
        {done !== undefined && (
          <p class={`edge note tone-${done.ok ? 'good' : 'bad'}`}>{outcomeText(done)}</p>
        )}
        {done !== undefined && done.diagnostics.length > 0 && (
          <DiagnosticList diagnostics={done.diagnostics} folder={folder} label="Messages" />
        )}
      </div>
    </div>
  )
}

/** The generation that was live before this one, as far as the list knows. */
function olderOf(items: readonly Generation[], index: number): number | undefined {
  const { generation: own } = items[index] ?? {}
  return items.slice(index + 1).find(({ generation }) => generation !== undefined && generation !== own)
    ?.generation
}

interface EntryProps {
  readonly item: Generation
  readonly before: number | undefined
  readonly folder: string
  readonly reload: () => void
}

function Entry({ item, before, folder, reload }: EntryProps) {
  const { generation, state, at, by, tookMs, changes, diagnostics, digest } = item
  const name = generation === undefined ? 'A refused change' : `Generation ${generation}`
  return (
    <details class="card" data-generation={generation ?? 'refused'}>
      <summary class="line">
        <strong>{name}</strong> <Badge state={state} />
        <span class="quiet">
          <Time at={at} />
          {by !== undefined && ` by ${by}`}
        </span>
        <Rich text={state === 'rejected' ? refusalText(diagnostics) : changesText(changes)} />
      </summary>
      <div class="stack">
        <p class="quiet">
          Loaded and checked in {duration(tookMs)}. {digest !== undefined && `Digest ${digest.slice(0, 12)}.`}
        </p>
        {state !== 'rejected' && <ChangesView changes={changes} />}
        {diagnostics.length > 0 && (
          <DiagnosticList diagnostics={diagnostics} folder={folder} label={`Messages of ${name}`} />
        )}
        {generation !== undefined && before !== undefined && (
          <p class="toolbar">
            <Button onClick={() => setQuery({ from: String(before), to: String(generation) })}>
              Compare files with generation {before}
            </Button>
          </p>
        )}
        {state === 'retired' && (
          <Step
            path={`/generations/${generation}/rollback`}
            verb={`Roll back to ${generation}`}
            subject={`a rollback to generation ${generation}`}
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

interface ComparisonProps {
  readonly from: string
  readonly to: string
  readonly items: readonly Generation[]
}

function Comparison({ from, to, items }: ComparisonProps) {
  const compared = useLoaded<Answer<'compareGenerations'>>(`/generations/${encodeURIComponent(to)}/compare`, {
    with: from,
  })
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    heading.current?.focus()
    heading.current?.scrollIntoView({ block: 'start' })
  }, [from, to])
  const numbers = [...new Set(items.flatMap(({ generation }) => generation ?? []))].sort(
    (one, other) => other - one,
  )
  const choice = (name: 'from' | 'to', label: string, value: string) => (
    <label class="field">
      {label}
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
    <section class="card" aria-label="Comparison">
      <h2 ref={heading} tabIndex={-1}>
        Generation {from} to {to}
      </h2>
      <div class="toolbar">
        {choice('from', 'From generation', from)} {choice('to', 'To generation', to)}
        <Button onClick={() => setQuery({ from: undefined, to: undefined })}>Close the comparison</Button>
      </div>
      <LoadedView loaded={compared} label="the files">
        {({ files }) => (
          <>
            {files.length === 0 && (
              <Empty title="The files are the same.">
                A value of the environment, the target of a reference or a transform may differ; those are not
                kept as text.
              </Empty>
            )}
            {files.map((file) => (
              <ChangedFile key={file.name} file={file} />
            ))}
          </>
        )}
      </LoadedView>
    </section>
  )
}

function ChangedFile({ file }: { readonly file: Answer<'compareGenerations'>['files'][number] }) {
  const { name, change, before = '', after = '', isCut } = file
  return (
    <section class="stack">
      <h3>
        <Code text={name} /> <span class="quiet">{change}</span>
      </h3>
      {isCut ? (
        <p class="quiet">It is too long to be shown here.</p>
      ) : (
        <DiffView name={name} before={before} after={after} />
      )}
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
