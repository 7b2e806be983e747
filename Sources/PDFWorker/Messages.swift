import Foundation
import MediaFormats

/// Messages to the process that has started the worker, one per line.
enum Messages {
    static func send(_ message: PDFWorkerMessage) {
        guard let line = try? JSONEncoder().encode(message) else { return }
        FileHandle.standardOutput.write(line + [0x0A])
    }
}
