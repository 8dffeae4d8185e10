import '@picocss/pico/css/pico.min.css';
import './style/theme.css';
import './style/frame.css';
import './style/cards.css';
import './style/parts.css';
import './style/rules.css';
import './style/shelf.css';
import './style/narrow.css';
import { render } from 'preact';
import { App } from './app.tsx';

render(<App />, document.getElementById('app')!);
