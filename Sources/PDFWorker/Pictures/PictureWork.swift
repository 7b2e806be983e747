import Dispatch
import MediaFormats
import Synchronization

/// What is done to pictures on all cores before the document is written: those of clients are checked, those of a
/// decoder are coded.
final class PictureWork: Sendable {
    private let outcomes: Mutex<[Int: Result<EmbeddedPicture?, any Error>]> = Mutex([:])
    private let files: [PDFJob.Picture]
    private let secondsPerPicture: Int

    /// Works on some pictures. Behind one that is broken nothing else is begun.
    init(_ files: [PDFJob.Picture], secondsPerPicture: Int) {
        (self.files, self.secondsPerPicture) = (files, secondsPerPicture)
        let firstBroken = Mutex(Int.max)
        DispatchQueue.concurrentPerform(iterations: files.count) { index in
            guard firstBroken.withLock({ index < $0 }) else { return }
            let outcome = Result { try work(on: files[index]) }
            if case .failure = outcome { firstBroken.withLock { $0 = min($0, index) } }
            outcomes.withLock { $0[index] = outcome }
        }
    }

    /// Returns the picture if it was coded.
    ///
    /// - Throws: ``JobError``, `PictureHeaderError`.
    func result(_ index: Int) throws -> EmbeddedPicture? {
        try outcomes.withLock { $0[index] }?.get()
    }

    private func work(on file: PDFJob.Picture) throws -> EmbeddedPicture? {
        switch file.origin {
        case .client:
            try PictureCheck.run(file.path, seconds: secondsPerPicture)
            return nil
        case .decoder: return try EmbeddedPicture.lossless(file.path)
        case .encoder: return nil
        }
    }
}
