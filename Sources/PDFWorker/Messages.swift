import Foundation
import MediaFormats

/// Messages to the process that has started the worker, one per line.
enum Messages {
    static func send(_ message: PDFWorkerMessage) {
        guard let line = try? JSONEncoder().encode(message) else { return }
        // Without a reader the exit code says what there is to say.
        try? FileHandle.standardOutput.write(contentsOf: line + [0x0A])
    }
}
