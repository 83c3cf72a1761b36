/** Does a request over again: a dry run first, which changes nothing, and then for real. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { announce } from '../../browser/announce.tsx'
import { hrefOf } from '../../browser/router.ts'
import { type ApiError, post } from '../../data/api.ts'
import { asApiError, useText } from '../../data/load.ts'
import type { Replayed, RequestDetail } from '../../data/types.ts'
import { Badge } from '../../parts/badge.tsx'
import { layOut } from '../../parts/json-layout.ts'
import { Marked } from '../../parts/marked.tsx'
import { Loading, Problem } from '../../parts/notice.tsx'
import { Trace } from '../../parts/trace.tsx'

interface Props {
  readonly request: RequestDetail
  readonly isEdited: boolean
  readonly close: () => void
}

/** What the gateway shows in the place of a secret. */
const redacted = '[redacted]'

type Step =
  | { readonly name: 'ready' | 'trying' | 'replaying' }
  | { readonly name: 'failed'; readonly error: ApiError }

export function Replay({ request: { id, endpoint }, isEdited, close }: Props) {
  const [isRaw, setIsRaw] = useState(false)
  const body = useText(isEdited ? `/requests/${id}/body${isRaw ? '?raw=true' : ''}` : undefined)
  const [payload, setPayload] = useState<string>()
  const [deliverAgain, setDeliverAgain] = useState(false)
  const [callOut, setCallOut] = useState(false)
  const [step, setStep] = useState<Step>({ name: 'ready' })
  const [tried, setTried] = useState<Replayed>()
  const [done, setDone] = useState<Replayed>()
  const heading = useRef<HTMLHeadingElement>(null)
  const field = useRef<HTMLTextAreaElement>(null)

  const original = body.text === undefined ? undefined : (layOut(body.text) ?? body.text)
  const text = payload ?? original
  const isBusy = step.name === 'trying' || step.name === 'replaying'

  // The panel opens below the buttons that open it, so that the keyboard goes on inside of it.
  useEffect(() => heading.current?.focus(), [])
  useEffect(() => {
    if (!isEdited) void send(true)
  }, [])

  // The button that asked for it is gone.
  useEffect(() => {
    if (isRaw && body.text !== undefined) field.current?.focus()
  }, [isRaw, body.text])

  async function send(dryRun: boolean) {
    setStep({ name: dryRun ? 'trying' : 'replaying' })
    const asked = {
      ...(dryRun && { dryRun: true }),
      ...(isEdited && text !== undefined && { payload: text }),
      ...(dryRun && callOut && { callOut: true }),
      ...(!dryRun && deliverAgain && { deliverAgain: true }),
    }
    try {
      const answer = await post<Replayed>(`/requests/${id}/replay`, asked)
      setStep({ name: 'ready' })
      if (dryRun) {
        setTried(answer)
        announce(`Dry run: it would end as ${outcomeOf(answer)}, with ${answer.status}.`)
      } else {
        setDone(answer)
        announce(`Replayed: it ended as ${outcomeOf(answer)}, with ${answer.status}.`)
        heading.current?.focus()
      }
    } catch (cause) {
      setStep({ name: 'failed', error: asApiError(cause) })
    }
  }

  return (
    <section class="card panel" aria-labelledby="replay-title">
      <h2 id="replay-title" ref={heading} tabIndex={-1}>
        {done !== undefined ? 'Replayed' : isEdited ? 'Edit and replay' : 'Replay'}
      </h2>
      {done !== undefined ? (
        <Done replayed={done} close={close} />
      ) : (
        <>
          {isEdited && (
            <>
              {body.error !== undefined && <Problem error={body.error} retry={body.reload} />}
              {body.text === undefined && body.error === undefined && <Loading what="the body" />}
              {body.isCut && <p class="notice">The body is too large to be edited here.</p>}
              {!isRaw && original?.includes(redacted) && (
                <p class="notice">
                  Known secrets are shown as <code>{redacted}</code>, and a payload with that in their place
                  is not replayed.{' '}
                  <button
                    type="button"
                    class="button"
                    onClick={() => {
                      setIsRaw(true)
                      setPayload(undefined)
                      setTried(undefined)
                    }}
                  >
                    Edit raw payload
                  </button>{' '}
                  <span class="quiet">which is logged</span>
                </p>
              )}
              {text !== undefined && !body.isCut && (
                <label class="field">
                  <span>Payload</span>
                  <textarea
                    ref={field}
                    rows={14}
                    spellcheck={false}
                    autocapitalize="off"
                    autocomplete="off"
                    value={text}
                    onInput={(event) => {
                      setPayload(event.currentTarget.value)
                      setTried(undefined)
                    }}
                  />
                </label>
              )}
            </>
          )}
          {tried !== undefined && <Tried replayed={tried} endpoint={endpoint} />}
          {step.name === 'trying' && tried === undefined && <Loading what="the dry run" />}
          {step.name === 'failed' && <Problem error={step.error} />}
          <div class="stack">
            <label class="check">
              <input
                type="checkbox"
                checked={deliverAgain}
                onChange={(event) => setDeliverAgain(event.currentTarget.checked)}
              />
              <span>
                Send its reply again <span class="quiet">even where one was delivered before</span>
              </span>
            </label>
            <label class="check">
              <input
                type="checkbox"
                checked={callOut}
                onChange={(event) => setCallOut(event.currentTarget.checked)}
              />
              <span>
                Let transforms reach the network <span class="quiet">in the dry run too</span>
              </span>
            </label>
          </div>
          <div class="toolbar">
            {/* A replay that was not tried before is one step further away than the dry run. */}
            <button
              type="button"
              class={`button ${tried === undefined ? 'primary' : ''}`}
              disabled={isBusy || (isEdited && (text === undefined || body.isCut))}
              onClick={() => void send(true)}
            >
              {step.name === 'trying' ? 'Trying …' : tried === undefined ? 'Dry run' : 'Dry run again'}
            </button>
            <button
              type="button"
              class={`button ${tried === undefined ? '' : 'primary'}`}
              disabled={isBusy || tried === undefined}
              onClick={() => void send(false)}
            >
              {step.name === 'replaying' ? 'Replaying …' : isEdited ? 'Replay edited' : 'Replay now'}
            </button>
            <button type="button" class="button ghost" onClick={close}>
              Cancel
            </button>
          </div>
        </>
      )}
    </section>
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
        <button type="button" class="button ghost" onClick={close}>
          Close
        </button>
      </div>
    </>
  )
}
