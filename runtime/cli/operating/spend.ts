/** `reveille spend`: shows what turns have cost, by day, mapping, model or session, and what the month will come to. */

import type { Answer } from '../../api/routes/client.ts'
import { openClient } from '../client.ts'
import type { CommandOptions, Io } from '../io.ts'
import { counted, formatTable, print } from '../print.ts'
import { budgetText } from '../status-text.ts'

type Spend = Answer<'readSpend'>

export async function spend(io: Io, options: CommandOptions): Promise<number> {
  const client = await openClient(io)
  const answer = await client.ask('readSpend', { query: options })
  print(io, answer, () => spendText(answer, io))
  const { by, since, until, next } = answer
  if (!io.json && next !== undefined)
    io.err(`More: reveille spend --by ${by} --since ${since} --until ${until} --cursor ${next}\n`)
  return 0
}

function spendText({ items, by, since, until, today, month }: Spend, io: Io): string {
  const header = [by.toUpperCase(), 'USD', 'TOKENS', 'RUNS', 'WITHOUT PRICE']
  const rows = items.map(({ name, usd, tokens, runs, unpriced }) => [
    name === '' ? noName[by] : name,
    dollars(usd),
    ...[tokens, runs].map((count) => count.toLocaleString('en')),
    unpriced === 0 ? '' : unpriced.toLocaleString('en'),
  ])
  const list =
    rows.length === 0
      ? `Nothing was spent from ${since} to ${until} (UTC).\n`
      : formatTable(header, rows, io.columns)
  return [
    list,
    `today     ${dollars(today.usd)}`,
    ...today.budgets.map((budget) => `          ${budgetText(budget)}`),
    `${month.month}   ${dollars(month.usd)} so far, ${dollars(month.projectedUsd)} if the rest is like the last seven days`,
    ...(month.unpriced > 0
      ? [`          without ${counted(month.unpriced, 'turn')} whose cost is not known (agents.prices)`]
      : []),
  ].join('\n')
}

/** The text shown for turns that have no such name. */
const noName: Readonly<Record<Spend['by'], string>> = {
  day: '',
  mapping: '(none)',
  model: "(the runner's own)",
  session: '(sessions without a given key)',
}

/** To a cent, and more finely below one. */
function dollars(usd: number): string {
  return `$${usd === 0 || usd >= 0.1 ? usd.toFixed(2) : usd.toPrecision(2)}`
}
