import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quietUntil } from './quiet-hours.ts'

const clock = (text = '') => {
  const [hours, minutes] = text.split(':').map(Number)
  return (hours ?? 0) * 60 + (minutes ?? 0)
}

/** Returns the result of `quietUntil` as text, for hours such as `22:00-07:00 Europe/Berlin`. */
function endOf(at: string, hours: string): string | undefined {
  const [range = '', timezone = 'UTC'] = hours.split(' ')
  const [from, to] = range.split('-')
  const end = quietUntil(Date.parse(at), { from: clock(from), to: clock(to), timezone })
  return end === undefined ? undefined : new Date(end).toISOString().replace(':00.000Z', 'Z')
}

const night = '22:00-07:00 Europe/Berlin'
const twice = '22:00-02:30 Europe/Berlin'

/** When hours that hold at a time end; none where they do not hold. */
const cases: Readonly<Record<string, readonly (readonly [at: string, hours: string, end?: string])[]>> = {
  'hours hold from their beginning until just before their end': [
    ['2026-01-10T13:29:59.999Z', '13:30-15:00'],
    ['2026-01-10T13:30:00Z', '13:30-15:00', '2026-01-10T15:00Z'],
    ['2026-01-10T14:59:59.999Z', '13:30-15:00', '2026-01-10T15:00Z'],
    ['2026-01-10T15:00:00Z', '13:30-15:00'],
  ],
  'hours over midnight hold on both sides of it, and end on the next morning': [
    ['2026-01-10T20:59:00Z', night],
    ['2026-01-10T21:00:00Z', night, '2026-01-11T06:00Z'],
    ['2026-01-11T05:59:59Z', night, '2026-01-11T06:00Z'],
    ['2026-01-11T06:00:00Z', night],
  ],
  'quiet hours may begin or end at midnight': [
    ['2026-01-10T00:00:00Z', '00:00-06:00', '2026-01-10T06:00Z'],
    ['2026-01-10T23:59:00Z', '20:00-00:00', '2026-01-11T00:00Z'],
    ['2026-01-11T00:00:00Z', '20:00-00:00'],
  ],
  'a time zone of quarters of an hour keeps its minutes': [
    ['2026-01-10T16:15:00Z', '22:00-07:30 Asia/Kathmandu', '2026-01-11T01:45Z'],
    ['2026-01-10T16:14:59Z', '22:00-07:30 Asia/Kathmandu'],
  ],
  'in the nights of 23 and of 25 hours they end at the same time on the wall clock': [
    ['2026-03-28T21:00:00Z', night, '2026-03-29T05:00Z'],
    ['2026-03-29T04:59:00Z', night, '2026-03-29T05:00Z'],
    ['2026-03-29T05:00:00Z', night],
    ['2026-10-24T20:00:00Z', night, '2026-10-25T06:00Z'],
    ['2026-10-25T05:30:00Z', night, '2026-10-25T06:00Z'],
    ['2026-10-25T06:00:00Z', night],
  ],
  'a beginning or an end that the clock jumps over is the moment of the jump': [
    ['2026-03-28T23:30:00Z', twice, '2026-03-29T01:00Z'],
    ['2026-03-29T00:59:59Z', '02:30-05:00 Europe/Berlin'],
    ['2026-03-29T01:00:00Z', '02:30-05:00 Europe/Berlin', '2026-03-29T03:00Z'],
  ],
  'hours that lie wholly in the jump do not happen on that day': [
    ['2026-03-29T00:59:59Z', '02:10-02:50 Europe/Berlin'],
    ['2026-03-29T01:00:00Z', '02:10-02:50 Europe/Berlin'],
  ],
  'an end that the day has twice ends them both times': [
    ['2026-10-24T21:00:00Z', twice, '2026-10-25T00:30Z'],
    ['2026-10-25T00:45:00Z', twice],
    ['2026-10-25T01:00:00Z', twice, '2026-10-25T01:30Z'],
  ],
  'hours that end when they begin are no quiet hours': [
    ['2026-01-10T12:00:00Z', '12:00-12:00'],
    ['2026-01-10T13:00:00Z', '12:00-12:00'],
  ],
}

for (const [title, rows] of Object.entries(cases))
  test(title, () => {
    for (const [at, hours, end] of rows) assert.equal(endOf(at, hours), end, `${hours} at ${at}`)
  })

test('at any minute of a year they end within a day, and not a minute later than the wall clock says', () => {
  const hours = { from: 22 * 60, to: 7 * 60, timezone: 'America/New_York' }
  for (let at = Date.UTC(2026, 0, 1); at < Date.UTC(2027, 0, 1); at += 397 * 60_000) {
    const end = quietUntil(at, hours)
    if (end === undefined) continue
    assert.ok(end > at && end - at <= 10 * 3_600_000, new Date(at).toISOString())
    assert.notEqual(quietUntil(end - 1, hours), undefined)
    assert.equal(quietUntil(end, hours), undefined)
  }
})
