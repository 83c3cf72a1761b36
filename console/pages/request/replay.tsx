/** Does a request again: a dry run first, which changes nothing, and then for real. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { announce } from '../../browser/announce.tsx'
import { go, hrefOf } from '../../browser/router.ts'
import { post } from '../../data/api.ts'
import { useSending, useText } from '../../data/load.ts'
import type { Replayed, RequestDetail } from '../../data/types.ts'
import { Button, Field } from '../../parts/controls.tsx'
import { layOut } from '../../parts/json-layout.ts'
import { LoadedView, Loading, Problem } from '../../parts/notice.tsx'
import { Trace } from '../../parts/trace.tsx'

interface Props {
  readonly request: RequestDetail
  readonly isEdited: boolean
  readonly close: () => void
}

/** The gateway's replacement of a secret. */
const redacted = '[redacted]'

export function Replay({ request: { id }, isEdited, close }: Props) {
  const [payload, setPayload] = useState<string>()
  const [choice, setChoice] = useState<Choice>({})
  const trial = useSending<Replayed & { readonly payload?: string | undefined }>()
  const replay = useSending<Replayed>()
  const heading = useRef<HTMLHeadingElement>(null)
  // A payload that was edited since was not tried.
  const tried = trial.answer?.payload === payload ? trial.answer : undefined
  const error = replay.error ?? trial.error
  const isBusy = trial.isBusy || replay.isBusy

  // The panel opens below the buttons that open it, so that the keyboard goes on inside of it.
  useEffect(() => heading.current?.focus(), [])
  useEffect(() => {
    if (!isEdited) void attempt()
  }, [])

  async function ask(options: object, prefix: string): Promise<Replayed> {
    const body = { ...options, ...(isEdited && { payload }) }
    const answer = await post<Replayed>(`/requests/${id}/replay`, body)
    announce(`${prefix} as ${outcomeOf(answer)}, with ${answer.status}.`)
    return answer
  }

  function attempt() {
    const options = { dryRun: true, ...(choice.callOut && { callOut: true }) }
    return trial.send(ask(options, 'Dry run: it would end').then((answer) => ({ ...answer, payload })))
  }

  async function perform() {
    const options = choice.deliverAgain ? { deliverAgain: true } : {}
    const { requestId } = (await replay.send(ask(options, 'Replayed: it ended'))) ?? {}
    if (requestId !== undefined) go(hrefOf(`/requests/${requestId}`))
  }

  return (
    <section class="card" aria-labelledby="replay-title">
      <h2 id="replay-title" ref={heading} tabIndex={-1}>
        {isEdited ? 'Edit and replay' : 'Replay'}
      </h2>
      {isEdited && <PayloadField id={id} payload={payload} edit={setPayload} />}
      {tried !== undefined && <Tried replayed={tried} />}
      {trial.isBusy && tried === undefined && <Loading label="the dry run" />}
      {error !== undefined && <Problem error={error} />}
      {choices.map(([name, label, note]) => (
        <label key={name} class="line">
          <input
            type="checkbox"
            checked={choice[name] ?? false}
            onChange={(event) => setChoice({ ...choice, [name]: event.currentTarget.checked })}
          />
          <span>
            {label} <span class="quiet">{note}</span>
          </span>
        </label>
      ))}
      <div class="toolbar">
        {/* A replay that was not tried before is one step further away than the dry run. */}
        <Button
          class={tried === undefined ? 'primary' : ''}
          disabled={isBusy || (isEdited && payload === undefined)}
          onClick={() => void attempt()}
        >
          {trial.isBusy ? 'Trying …' : tried === undefined ? 'Dry run' : 'Dry run again'}
        </Button>
        <Button
          class={tried === undefined ? '' : 'primary'}
          disabled={isBusy || tried === undefined}
          onClick={() => void perform()}
        >
          {replay.isBusy ? 'Replaying …' : isEdited ? 'Replay edited' : 'Replay now'}
        </Button>
        <Button class="ghost" onClick={close}>
          Cancel
        </Button>
      </div>
    </section>
  )
}

interface PayloadFieldProps {
  readonly id: string
  /** Undefined until it was read. */
  readonly payload: string | undefined
  readonly edit: (payload: string) => void
}

function PayloadField({ id, payload, edit }: PayloadFieldProps) {
  const [isRaw, setIsRaw] = useState(false)
  const body = useText(`/requests/${id}/body${isRaw ? '?raw=true' : ''}`)
  const original = body.data && (layOut(body.data.text) ?? body.data.text)
  useEffect(() => {
    if (original !== undefined && !body.data?.isCut) edit(original)
  }, [original])
  return (
    <LoadedView loaded={body} label="the body">
      {({ isCut }) => (
        <>
          {isCut && <p class="notice card">The body is too large to be edited here.</p>}
          {!isRaw && original?.includes(redacted) && (
            <p class="notice card">
              <span>
                Known secrets are shown as <code>{redacted}</code>, and a payload with that in their place is
                not replayed.
              </span>
              <span>
                <Button onClick={() => setIsRaw(true)}>Edit raw payload</Button>{' '}
                <span class="quiet">which is logged</span>
              </span>
            </p>
          )}
          {payload !== undefined && (
            <Field label="Payload" rows={14} value={payload} onText={edit} isFocused={isRaw} />
          )}
        </>
      )}
    </LoadedView>
  )
}

interface Choice {
  readonly deliverAgain?: boolean
  readonly callOut?: boolean
}

const choices = [
  ['deliverAgain', 'Send its reply again', 'even where one was delivered before'],
  ['callOut', 'Let transforms reach the network', 'in the dry run too'],
] as const

function outcomeOf({ outcome, decision }: Replayed): string {
  return outcome ?? decision?.outcome ?? 'failed'
}

function Tried({ replayed }: { readonly replayed: Replayed }) {
  return (
    <div class="tried stack">
      <p>A dry run, which changed nothing:</p>
      <Trace {...replayed} decision={{ outcome: outcomeOf(replayed), ...replayed.decision }} />
    </div>
  )
}
