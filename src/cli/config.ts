import { Command } from 'commander';
import type { Environment } from '../domain/config/config.ts';
import { configReference } from '../domain/config/reference.ts';
import { configTemplate, printConfig } from '../domain/config/text.ts';
import { loadConfig } from './load-config.ts';

/** `furze config`: checks the configuration, prints it, or writes a commented one. */
export function configCommand(env: Environment): Command {
  return new Command('config')
    .description('check the configuration and print it')
    .option('-c, --config <file>', 'configuration file (TOML)')
    .option('-p, --print', 'print the effective configuration, secrets masked (the default)')
    .option('-t, --template', 'print a commented file with every key and its default instead')
    .option('-r, --reference', 'print the reference of all keys as Markdown instead')
    .addHelpText(
      'after',
      '\nExit code 0: it is valid; 2: it is not, each fault in a line.\nExample: furze config --template > furze.toml',
    )
    .action((options: { config?: string; template?: boolean; reference?: boolean }) => {
      const text = options.template
        ? configTemplate()
        : options.reference
          ? configReference()
          : printConfig(loadConfig({ path: options.config, env }));
      process.stdout.write(text);
    });
}
