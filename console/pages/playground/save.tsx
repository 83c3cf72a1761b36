/** Saves the mapping of the playground to a file. The change is previewed first; saving writes and reloads, or changes nothing. */

import { useEffect, useState } from 'preact/hooks'
import { announce } from '../../browser/announce.tsx'
import { mayDo, post } from '../../data/api.ts'
import { useSending } from '../../data/load.ts'
import type { Answer } from '../../data/types.ts'
import { DiagnosticList } from '../../parts/code-frame.tsx'
import { ActionButton, Button, Field } from '../../parts/controls.tsx'
import { DiffView } from '../../parts/diff-view.tsx'
import { Problem } from '../../parts/notice.tsx'
import { acceptRefusal, DryRunView } from '../../parts/reload-result.tsx'

type Saved = Answer<'saveMapping'>

interface Shown extends Saved {
  /** What was previewed, which is what will be saved. */
  readonly asked: { readonly file: string; readonly mapping: string; readonly test?: string | undefined }
  readonly isWithTest: boolean
  /** The generation that was live when the change was previewed. */
  readonly previous: number | undefined
}

interface SaveProps {
  readonly mapping: string
  /** A test of the request; absent if it cannot be written as one. */
  readonly test: string | undefined
  /** The file that the mapping is from, or one that is named after the endpoint. */
  readonly suggested: string
}

export function Save({ mapping, test, suggested }: SaveProps) {
  const [file, setFile] = useState(suggested)
  const [isWithTest, setWithTest] = useState(true)
  useEffect(() => setFile(suggested), [suggested])
  const { isBusy, answer, error, send } = useSending<Shown>()
  const { asked } = answer ?? {}
  // A preview is outdated once another mapping is typed, or something else is chosen.
  const isShown =
    asked?.mapping === mapping && asked.file === file.trim() && answer?.isWithTest === isWithTest
  const preview = isShown || answer?.saved ? answer : undefined

  function save(isDry: boolean) {
    const typed = { file: file.trim(), mapping, test: isWithTest ? test : undefined }
    const body = isDry || asked === undefined ? typed : asked
    const digest = isDry ? undefined : answer?.digest
    const request = post<Saved>('/mappings', { ...body, digest }, isDry ? { dryRun: true } : {})
    const show = (saved: Saved): Shown => {
      announce(sentenceOf(saved))
      return {
        ...saved,
        asked: body,
        isWithTest,
        previous: isDry ? saved.reload?.generation : answer?.previous,
      }
    }
    void send(acceptRefusal(request).then(show))
  }

  if (!mayDo('configure')) return null
  const { before = '', after, diagnostics = [], reload, shadow, previous } = preview ?? {}
  return (
    <section class="stack" aria-label="Save">
      <h2>Save</h2>
      <div class="toolbar">
        <Field label="File to save in" value={file} onText={setFile} />
        {test !== undefined && (
          <label class="line">
            <input type="checkbox" checked={isWithTest} onChange={() => setWithTest(!isWithTest)} />
            with this request as a test
          </label>
        )}
        <Button disabled={isBusy} onClick={() => save(true)}>
          Show the change
        </Button>
        {preview !== undefined && !preview.saved && reload?.ok && (
          <Button class="primary" disabled={isBusy} onClick={() => save(false)}>
            Save and go live
          </Button>
        )}
      </div>
      {error !== undefined && <Problem error={error} />}
      {preview?.saved && (
        <p class={`edge note tone-${reload?.ok ? 'good' : 'bad'}`}>
          {sentenceOf(preview)} {reload?.ok && previous !== undefined && <Undo generation={previous} />}
        </p>
      )}
      {diagnostics.length > 0 && (
        <DiagnosticList diagnostics={diagnostics} label="Why the mapping does not compile" />
      )}
      {after !== undefined && preview?.saved === false && (
        <DiffView name={preview.file} before={before} after={after} />
      )}
      {reload !== undefined && !preview?.saved && (
        <DryRunView dry={{ reload, ...(shadow && { shadow }) }} subject="all files with it" />
      )}
    </section>
  )
}

function Undo({ generation }: { readonly generation: number }) {
  const question = `Roll back to generation ${generation}? The file keeps the change.`
  const words = ['Undo', `Generation ${generation} is live again.`, question] as const
  return <ActionButton path={`/generations/${generation}/rollback`} words={words} />
}

function sentenceOf({ file, saved, reload }: Saved): string {
  if (!saved) return reload?.ok ? 'This change would go live.' : 'This change would be refused.'
  return reload?.ok
    ? `${file} is saved, and generation ${reload.generation} is live.`
    : `${file} is saved, but the reload refused it: see Changes.`
}
