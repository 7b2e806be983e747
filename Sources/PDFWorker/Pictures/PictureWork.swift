import Dispatch
import Foundation
import MediaFormats
import Synchronization

/// What is done to pictures on all cores before they are written: those of clients are checked, those of a decoder are
/// coded, the data of each that stay are found.
final class PictureWork: Sendable {
    private let outcomes: Mutex<[Int: Result<EmbeddedPicture, any Error>]> = Mutex([:])
    private let files: [PDFJob.Picture]
    private let keepsMetadata: Bool
    private let secondsPerPicture: Int

    /// Works on some pictures. Behind one that is broken nothing else is begun.
    init(_ files: [PDFJob.Picture], keepsMetadata: Bool, secondsPerPicture: Int) {
        (self.files, self.keepsMetadata, self.secondsPerPicture) = (files, keepsMetadata, secondsPerPicture)
        let firstBroken = Mutex(Int.max)
        DispatchQueue.concurrentPerform(iterations: files.count) { index in
            guard firstBroken.withLock({ index < $0 }) else { return }
            let outcome = Result { try work(on: files[index]) }
            if case .failure = outcome { firstBroken.withLock { $0 = min($0, index) } }
            outcomes.withLock { $0[index] = outcome }
        }
    }

    /// Returns the picture as it is embedded.
    ///
    /// - Throws: ``JobError``, `PictureHeaderError`.
    func result(_ index: Int) throws -> EmbeddedPicture {
        guard let outcome = outcomes.withLock({ $0[index] }) else {
            throw JobError(.other("a picture without a result"))
        }
        return try outcome.get()
    }

    private func work(on file: PDFJob.Picture) throws -> EmbeddedPicture {
        if file.origin == .client { try PictureCheck.run(file.path, seconds: secondsPerPicture) }
        var picture =
            file.origin == .decoder
            ? try EmbeddedPicture.lossless(file.path)
            : try EmbeddedPicture(file: file.path, keepsMetadata: keepsMetadata)
        if let path = file.reduced {
            let reduced = try EmbeddedPicture(file: path, keepsMetadata: keepsMetadata)
            // Lines and letters are sharp without loss, which is worth some bytes.
            let most = picture.filter == "/DCTDecode" ? picture.bytes : picture.bytes / 4 * 3
            if reduced.bytes < most { picture = reduced }
        }
        if picture.profile == nil { picture.profile = file.gamma.flatMap { picture.profile(gamma: $0) } }
        picture.pixelAspect = file.pixelAspect
        picture.checksum = picture.data.reduce(0) { sum, part in
            part.withUnsafeBytes { PictureDocumentFile.checksum(of: $0, after: sum) }
        }
        return picture
    }
}
