import HTTPTypes
import Media
import Screens

extension Problem {
    /// Translates a failure of Media into the problem of the response.
    ///
    /// - Parameters:
    ///   - error: a ``MediaError`` or ``MediaError/OfInput``.
    ///   - titles: the names of the client's files, in the order of Media's inputs; empty if the client sent none.
    /// - Returns: nil for every other error, and for one that the client can do nothing about: it belongs into the log.
    init?(_ error: any Error, titles: [String] = []) {
        switch error {
        case let error as MediaError.OfInput:
            let input = titles.indices.contains(error.index) ? (error.index, titles[error.index]) : nil
            self.init(error.error, of: input)
        case let error as MediaError: self.init(error, of: nil)
        default: return nil
        }
    }

    /// A file of the request that is empty or broken.
    init(damagedFile title: String, at index: Int) {
        self.init(.damaged, of: (index, title), .isDamaged)
    }

    private init?(_ error: MediaError, of input: (index: Int, title: String)?) {
        switch error {
        // A file of Larder's own that is not a PDF any more; the client has not sent it.
        case .unsupported where input == nil: self.init(.damaged, of: input, .isDamaged)
        case .unsupported:
            self.init(.unsupportedMediaType, of: input, .cannotBeUsed(SourceFormat.accepted))
        case .undecodable(let kind): self.init(.unsupportedMediaType, of: input, .isOfUnreadableKind(kind))
        // A file that makes a program crash is not a valid file of its format, whatever else it may be.
        case .damaged, .crashed: self.init(.damaged, of: input, .isDamaged)
        case .encrypted: self.init(.encrypted, of: input, .isProtected)
        case .tooLarge(let excess): self.init(.tooLarge, of: input, Self.fault(excess))
        case .tooManyPages(let limit): self.init(.tooManyPages, of: input, .tooManyPages(limit))
        case .timedOut: self.init(.timedOut, of: input, .takesTooLong)
        case .noGlyphs:
            self = .validation([.field("/text", "no-glyphs", .noGlyphs)])
        case .overloaded:
            self.init(.overloaded, .tooManyJobs, headerFields: [.retryAfter: "5"])
        case .toolMissing(let tool):
            self.init(
                .toolMissing,
                "\(tool.executable) is not there; on Debian it needs \(tool.package). "
                    + "Everything that does not need it works."
            )
        case .failed, .unavailable: self = .processingUnavailable
        case .storageFull: self = .storageFull
        case .noSuchPage, .unconfined: return nil
        }
    }

    private static func fault(_ excess: MediaError.Excess) -> Text {
        switch excess {
        case .bytes(let limit): .moreMebibytes(limit >> 20)
        case .pixels(let limit): .moreMegapixels(limit / 1_000_000)
        case .text, .output, .memory: .tooExpensive
        }
    }

    private init(_ code: ProblemCode, of input: (index: Int, title: String)?, _ fault: Text) {
        guard let input else {
            self.init(code, .document(fault))
            return
        }
        let detail: Text = "\(input.title) \(fault)."
        self.init(code, detail, errors: [.field("/files/\(input.index)", code.rawValue, detail)])
    }
}
