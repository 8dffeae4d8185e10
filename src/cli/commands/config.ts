import { Command } from 'commander';
import type { Environment } from '../../config/config.ts';
import { configTemplate, printConfig, printConfigJson } from '../../config/print.ts';
import { configReference } from '../../config/reference.ts';
import { loadConfig } from '../common/load-config.ts';
import { configOption } from '../common/options.ts';

interface ConfigOptions {
  readonly config?: string;
  readonly template?: boolean;
  readonly reference?: boolean;
  readonly json?: boolean;
}

/** `furze config`: checks the configuration, prints it, or writes a commented one. */
export function configCommand(env: Environment): Command {
  return new Command('config')
    .description('check the configuration and print it')
    .addOption(configOption())
    .option('-p, --print', 'print the effective configuration, secrets masked (the default)')
    .option('-t, --template', 'print a commented file with every key and its default instead')
    .option('-r, --reference', 'print the reference of all keys as Markdown instead')
    .option('--json', 'print the effective configuration as JSON, secrets masked')
    .addHelpText(
      'after',
      '\nExit code 0: it is valid; 2: it is not, each fault in a line.\n\nExample:\n  furze config --template > furze.toml',
    )
    .action((options: ConfigOptions) => {
      const print = options.json ? printConfigJson : printConfig;
      const text = options.template
        ? configTemplate()
        : options.reference
          ? configReference()
          : print(loadConfig({ path: options.config, env }));
      process.stdout.write(text);
    });
}
