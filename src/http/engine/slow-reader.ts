import type { Socket } from 'node:net';

/** Looks in the time that a peer has; it is too slow when all of them say so. */
const LOOKS = 4;

/** A socket that is watched while it holds back what its peer does not take. */
export interface WatchedSocket extends Socket {
  isWatched?: boolean;
}

/**
 * Ends a connection whose peer takes its short answers too slowly: they wait in the socket, and those of further requests
 * behind them.
 * @param socket one that has not got rid of all it was given
 * @param timeoutMs time in which a peer must take `bytesMin` bytes, or all that there is
 */
export function watchSlowReader(socket: WatchedSocket, timeoutMs: number, bytesMin: number): void {
  if (socket.isWatched === true) return;
  socket.isWatched = true;
  let before = takenOf(socket);
  let lateLooks = 0;
  const timer = setInterval(() => {
    const taken = takenOf(socket) - before;
    before += taken;
    const isLate = socket.writableLength > 0 && taken < bytesMin / LOOKS;
    // One look may come upon a short answer that is on its way.
    lateLooks = isLate ? lateLooks + 1 : 0;
    if (lateLooks === LOOKS) socket.destroy();
    if (socket.writableLength > 0 && !socket.destroyed) return;
    clearInterval(timer);
    socket.isWatched = false;
  }, timeoutMs / LOOKS).unref();
}

/** Bytes that the peer's side of the connection has taken. */
function takenOf({ bytesWritten, writableLength }: Socket): number {
  return bytesWritten - writableLength;
}
