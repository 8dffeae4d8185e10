/** A Markdown table whose columns are aligned: the first to the left, all others to the right. @param cells the head first */
export function alignTable(cells: readonly (readonly string[])[]): string {
  const widths = cells[0]!.map((_, at) => Math.max(...cells.map((row) => row[at]!.length)));
  const lines = cells.map((row) => {
    const padded = row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)));
    return `| ${padded.join(' | ')} |`;
  });
  lines.splice(1, 0, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`);
  return lines.join('\n');
}
