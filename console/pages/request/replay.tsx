/** Does a request again: a dry run first, which changes nothing, and then for real. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { announce } from '../../browser/announce.tsx'
import { hrefOf } from '../../browser/router.ts'
import { type ApiError, post } from '../../data/api.ts'
import { asApiError, useText } from '../../data/load.ts'
import type { Replayed, RequestDetail } from '../../data/types.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { layOut } from '../../parts/json-layout.ts'
import { Marked } from '../../parts/marked.tsx'
import { LoadedView, Loading, Problem } from '../../parts/notice.tsx'
import { Trace } from '../../parts/trace.tsx'

interface Props {
  readonly request: RequestDetail
  readonly isEdited: boolean
  readonly close: () => void
}

/** The gateway's replacement of a secret. */
const redacted = '[redacted]'

type Step = 'ready' | 'trying' | 'replaying' | ApiError

export function Replay({ request: { id, endpoint }, isEdited, close }: Props) {
  const [payload, setPayload] = useState<string>()
  const [choice, setChoice] = useState<Choice>({})
  const [step, setStep] = useState<Step>('ready')
  const [tried, setTried] = useState<Replayed>()
  const [done, setDone] = useState<Replayed>()
  const heading = useRef<HTMLHeadingElement>(null)
  const isBusy = step === 'trying' || step === 'replaying'

  // The panel opens below the buttons that open it, so that the keyboard goes on inside of it.
  useEffect(() => heading.current?.focus(), [])
  useEffect(() => {
    if (!isEdited) void send(true)
  }, [])

  async function send(dryRun: boolean) {
    setStep(dryRun ? 'trying' : 'replaying')
    const { callOut, deliverAgain } = choice
    const options = dryRun
      ? { dryRun, ...(callOut && { callOut }) }
      : { ...(deliverAgain && { deliverAgain }) }
    try {
      const answer = await post<Replayed>(`/requests/${id}/replay`, {
        ...options,
        ...(isEdited && { payload }),
      })
      setStep('ready')
      if (dryRun) setTried(answer)
      else setDone(answer)
      const prefix = dryRun ? 'Dry run: it would end' : 'Replayed: it ended'
      announce(`${prefix} as ${outcomeOf(answer)}, with ${answer.status}.`)
      if (!dryRun) heading.current?.focus()
    } catch (cause) {
      setStep(asApiError(cause))
    }
  }

  const edit = (text: string | undefined) => {
    setPayload(text)
    setTried(undefined)
  }
  return (
    <section class="card" aria-labelledby="replay-title">
      <h2 id="replay-title" ref={heading} tabIndex={-1}>
        {done !== undefined ? 'Replayed' : isEdited ? 'Edit and replay' : 'Replay'}
      </h2>
      {done !== undefined ? (
        <Done replayed={done} close={close} />
      ) : (
        <>
          {isEdited && <PayloadField id={id} payload={payload} edit={edit} />}
          {tried !== undefined && <Tried replayed={tried} endpoint={endpoint} />}
          {step === 'trying' && tried === undefined && <Loading label="the dry run" />}
          {typeof step === 'object' && <Problem error={step} />}
          <Choices choice={choice} setChoice={setChoice} />
          <div class="toolbar">
            {/* A replay that was not tried before is one step further away than the dry run. */}
            <Button
              class={tried === undefined ? 'primary' : ''}
              disabled={isBusy || (isEdited && payload === undefined)}
              onClick={() => void send(true)}
            >
              {step === 'trying' ? 'Trying …' : tried === undefined ? 'Dry run' : 'Dry run again'}
            </Button>
            <Button
              class={tried === undefined ? '' : 'primary'}
              disabled={isBusy || tried === undefined}
              onClick={() => void send(false)}
            >
              {step === 'replaying' ? 'Replaying …' : isEdited ? 'Replay edited' : 'Replay now'}
            </Button>
            <Button class="ghost" onClick={close}>
              Cancel
            </Button>
          </div>
        </>
      )}
    </section>
  )
}

interface PayloadFieldProps {
  readonly id: string
  /** Undefined until it was read. */
  readonly payload: string | undefined
  readonly edit: (payload: string | undefined) => void
}

function PayloadField({ id, payload, edit }: PayloadFieldProps) {
  const [isRaw, setIsRaw] = useState(false)
  const body = useText(`/requests/${id}/body${isRaw ? '?raw=true' : ''}`)
  const field = useRef<HTMLTextAreaElement>(null)
  const original = body.data && (layOut(body.data.text) ?? body.data.text)
  useEffect(() => {
    if (original === undefined || body.data?.isCut) return
    edit(original)
    // The button that asked for it is gone.
    if (isRaw) field.current?.focus()
  }, [original])
  return (
    <LoadedView loaded={body} label="the body">
      {({ isCut }) => (
        <>
          {isCut && <p class="notice">The body is too large to be edited here.</p>}
          {!isRaw && original?.includes(redacted) && (
            <p class="notice">
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
            <label class="field">
              Payload
              <textarea
                ref={field}
                rows={14}
                spellcheck={false}
                autocapitalize="off"
                autocomplete="off"
                value={payload}
                onInput={(event) => edit(event.currentTarget.value)}
              />
            </label>
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

function Choices({
  choice,
  setChoice,
}: {
  readonly choice: Choice
  readonly setChoice: (next: Choice) => void
}) {
  return (
    <div class="stack">
      {choices.map(([name, label, note]) => (
        <label key={name} class="check">
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
    </div>
  )
}

function outcomeOf({ outcome, decision }: Replayed): string {
  return outcome ?? decision?.outcome ?? 'failed'
}

function Tried({ replayed, endpoint }: { readonly replayed: Replayed; readonly endpoint: string }) {
  const { status, decision, explanation, stops } = replayed
  return (
    <div class="tried stack">
      <p>
        A dry run, which changed nothing: it would end as <Badge state={outcomeOf(replayed)} /> with{' '}
        <b>{status}</b>
        {decision?.message !== undefined && (
          <>
            : <Marked text={decision.message} />
          </>
        )}
        .
      </p>
      {(explanation !== undefined || (stops?.length ?? 0) > 0) && (
        <details class="fold" open={outcomeOf(replayed) !== 'accepted' || (stops?.length ?? 0) > 0}>
          <summary>Why, and what it would cause</summary>
          <Trace explanation={explanation ?? { endpoint, candidates: [] }} stops={stops} />
        </details>
      )}
    </div>
  )
}

function Done({ replayed, close }: { readonly replayed: Replayed; readonly close: () => void }) {
  const { requestId, status, reason } = replayed
  return (
    <>
      <p>
        It ended as <Badge state={outcomeOf(replayed)} /> with <b>{status}</b>.{' '}
        {reason !== undefined && <Marked text={reason} />}
      </p>
      <div class="toolbar">
        {requestId !== undefined && (
          <a class="button primary" href={hrefOf(`/requests/${requestId}`)}>
            Open the replay
          </a>
        )}
        <Button class="ghost" onClick={close}>
          Close
        </Button>
      </div>
    </>
  )
}
