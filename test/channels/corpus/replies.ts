/** The replies that every channel is tested with: usual ones, hostile ones and very long ones. */

import { readFileSync } from 'node:fs'

export interface Reply {
  readonly name: string
  /** Markdown. */
  readonly text: string
}

const sentence =
  'The lamp of the signal box is lit, and nobody knows why it went out in the night of the storm. '

/** The replies that are long or have characters that no editor shows. */
const made: readonly Reply[] = [
  { name: 'a paragraph of 9,000 letters', text: sentence.repeat(95).slice(0, 9000).trim() },
  { name: 'a word of 9,000 letters', text: 'ab'.repeat(4500) },
  { name: 'a line of 5,000 signs of Chinese', text: '构建失败请修复它然后重新运行测试'.repeat(313) },
  { name: 'a line of 2,500 emoji', text: '👩🏽‍🚀'.repeat(2500) },
  {
    name: 'code of 700 lines',
    text: fenced(
      'ts',
      lines(700, (n) => `const value${n} = compute(${n}) // ${n % 7}`),
    ),
  },
  { name: 'a line of code of 6,000 letters', text: fenced('json', `{"data":"${'abcdefghij'.repeat(600)}"}`) },
  {
    name: 'a list of 400 points',
    text: lines(400, (n) => `- point **${n}** of the list, in \`file-${n}.ts\``),
  },
  {
    name: 'an ordered list of 150 steps with code',
    text: lines(150, (n) => `${n}. Step ${n}\n\n   \`\`\`sh\n   run --step ${n}\n   \`\`\`\n`),
  },
  {
    name: 'a table of 200 rows',
    text: `| Number | Name | State |\n|---:|---|---|\n${lines(200, (n) => `| ${n} | service-${n} | **up** |`)}`,
  },
  { name: 'bold over 6,000 letters', text: `**${sentence.repeat(64).trim()}**` },
  { name: 'a quote of 300 lines', text: lines(300, (n) => `> Line ${n} of what the customer wrote.`) },
  { name: 'two hundred links', text: lines(200, (n) => `[run ${n}](https://ci.example.org/runs/${n}), `) },
  {
    name: 'control characters',
    text: 'An override \u202egpj.exe, a reference to one &#x202E;gpj.exe. A bell \u0007, an escape \u001b[31mred\u001b[0m, a nothing \u0000 and half a pair \ud83d.',
  },
  { name: 'only white space', text: ' \n\t\n ' },
]

/** Reads the replies of a file, in which each is below its name. */
function readReplies(file: string): Reply[] {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8')
  return text
    .split(/^=====\[ /m)
    .slice(1)
    .map((entry) => {
      const [name = '', rest = ''] = entry.split(/ \]=====\n(.*)/s)
      return { name, text: rest.replace(/\n$/, '') }
    })
}

export const replies: readonly Reply[] = [
  ...['everyday.md', 'letters.md', 'hostile.md'].flatMap(readReplies),
  ...made,
]

function lines(count: number, line: (number: number) => string): string {
  return Array.from({ length: count }, (_, index) => line(index + 1)).join('\n')
}

function fenced(language: string, code: string): string {
  return `\`\`\`${language}\n${code}\n\`\`\``
}
