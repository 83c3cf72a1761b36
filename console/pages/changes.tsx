/** The live generation, the refused ones, the changes between two generations, and the ways back. */

import { useEffect, useRef } from 'preact/hooks'
import { changesText } from '../../runtime/observe/changes-text.ts'
import { announce, useAnnounced } from '../browser/announce.tsx'
import { type PageProps, setQuery } from '../browser/router.ts'
import { mayDo, post } from '../data/api.ts'
import { useLoaded, useLoadedList, useReloadOn, useSending } from '../data/load.ts'
import type { Answer, ItemOf } from '../data/types.ts'
import { Badge } from '../parts/badge.tsx'
import { type Diagnostic, DiagnosticList } from '../parts/code-frame.tsx'
import { Button } from '../parts/controls.tsx'
import { DiffView } from '../parts/diff-view.tsx'
import { Code, Marked, Rich } from '../parts/marked.tsx'
import { Empty, LoadedView, Loading, More, Problem } from '../parts/notice.tsx'
import {
  acceptRefusal,
  ChangesView,
  type DryRun,
  DryRunView,
  outcomeText,
  type ReloadResult,
} from '../parts/reload-result.tsx'
import { counted, duration, Time } from '../parts/words.tsx'

type Generation = ItemOf<'listGenerations'>

export function Changes({ query }: PageProps) {
  const list = useLoadedList<Generation>('/generations', { limit: 50 })
  const { data, error, reload } = list
  useReloadOn((frame) => frame.reload === true || frame.generation !== undefined, reload)
  const items = data ?? []
  const live = items.find(({ state }) => state === 'live')
  const currentRefusal = items.find(({ isCurrent }) => isCurrent)
  const [from, to] = [query.get('from'), query.get('to')]
  // For those who do not see it appear.
  useAnnounced(data && refusalAnnouncement(currentRefusal))
  return (
    <>
      <h1>Changes</h1>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {data === undefined && error === undefined && <Loading label="the generations" />}
      {live !== undefined && <Live live={live} currentRefusal={currentRefusal} reload={reload} />}
      {from !== null && to !== null && <Comparison from={from} to={to} items={items} />}
      {items.length > 0 && (
        <section aria-label="Generations">
          <h2>Generations</h2>
          <ol class="stack plain">
            {items.map((item, index) => (
              <li key={`${item.at} ${item.generation} ${item.digest}`}>
                <Entry item={item} before={olderOf(items, index)} reload={reload} />
              </li>
            ))}
          </ol>
        </section>
      )}
      <More list={list} label="Show older ones" />
    </>
  )
}

interface LiveProps {
  readonly live: Generation
  readonly currentRefusal: Generation | undefined
  readonly reload: () => void
}

function Live({ live, currentRefusal, reload }: LiveProps) {
  const warnings = live.diagnostics
  return (
    <section aria-label="Live generation" class="card">
      <p class="lead">
        <Badge state="live" /> <strong>Generation {live.generation}</strong> with{' '}
        {counted(live.mappings ?? 0, 'mapping')} since <Time at={live.at} /> (<Time at={live.at} isAgo />)
        {live.by !== undefined && `, by ${live.by}`}.
      </p>
      {live.rolledBack && (
        <p class="edge tone-warn note">
          It was rolled back to. It stays live until the files change, or until a reload.
        </p>
      )}
      {live.changes.restart.length > 0 && (
        <p class="edge tone-warn note">
          Waits for a restart: <Marked text={live.changes.restart.join(', ')} />
        </p>
      )}
      {currentRefusal !== undefined && (
        <div class="card note tone-bad" role="alert">
          <h2>
            Your last change was refused <span class="quiet">at</span> <Time at={currentRefusal.at} />
          </h2>
          <p>Generation {live.generation} is still live. The files are loaded again when you save.</p>
          <DiagnosticList diagnostics={currentRefusal.diagnostics} label="Why it was refused" />
        </div>
      )}
      {warnings.length > 0 && (
        <details>
          <summary>{counted(warnings.length, 'warning')}</summary>
          <DiagnosticList diagnostics={warnings} label="Warnings" />
        </details>
      )}
      <Step path="/reload" verb="Reload" subject="a reload of the files" onDone={reload} />
    </section>
  )
}

interface StepProps {
  /** Below `/api`. */
  readonly path: string
  readonly verb: string
  readonly subject: string
  readonly onDone: () => void
}

/** Something that changes what is live: a dry run first, whose result says what would change, and then for real. */
function Step({ path, verb, subject, onDone }: StepProps) {
  const { isBusy, answer, error, send } = useSending<DryRun | ReloadResult>()
  const [dry, done] = answer && 'reload' in answer ? [answer] : [undefined, answer]
  const result = useRef<HTMLDivElement>(null)

  async function run(isDry: boolean) {
    const request = post<DryRun | ReloadResult>(path, undefined, isDry ? { dryRun: true } : {})
    const answered = await send(acceptRefusal(request))
    if (answered !== undefined && 'outcome' in answered) {
      announce(outcomeText(answered))
      onDone()
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
        {dry !== undefined && <DryRunView dry={dry} subject={subject} />}
        {done !== undefined && (
          <p class={`edge note tone-${done.ok ? 'good' : 'bad'}`}>{outcomeText(done)}</p>
        )}
        {done !== undefined && done.diagnostics.length > 0 && (
          <DiagnosticList diagnostics={done.diagnostics} label="Messages" />
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
  readonly reload: () => void
}

function Entry({ item, before, reload }: EntryProps) {
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
        <Rich
          text={state === 'rejected' ? refusalText(diagnostics) : changesText(changes) || 'no named change'}
        />
      </summary>
      <div class="stack">
        <p class="quiet">
          Loaded and checked in {duration(tookMs)}. {digest !== undefined && `Digest ${digest.slice(0, 12)}.`}
        </p>
        {state !== 'rejected' && <ChangesView changes={changes} />}
        {diagnostics.length > 0 && <DiagnosticList diagnostics={diagnostics} label={`Messages of ${name}`} />}
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
            onDone={reload}
          />
        )}
      </div>
    </details>
  )
}

function refusalAnnouncement(refusal: Generation | undefined): string {
  if (refusal === undefined) return 'The files are good again.'
  return `Your last change was refused, with ${counted(refusal.diagnostics.length, 'message')}.`
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
