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
        self.init(.damaged, of: (index, title), "is damaged or incomplete")
    }

    private init?(_ error: MediaError, of input: (index: Int, title: String)?) {
        switch error {
        // A file of Larder's own that is not a PDF any more; the client has not sent it.
        case .unsupported where input == nil: self.init(.damaged, of: input, "is damaged or incomplete")
        case .unsupported:
            self.init(.unsupportedMediaType, of: input, "cannot be used; accepted: \(SourceFormat.accepted)")
        // A file that makes a program crash is not a valid file of its format, whatever else it may be.
        case .damaged, .crashed: self.init(.damaged, of: input, "is damaged or incomplete")
        case .encrypted: self.init(.encrypted, of: input, "is protected by a password")
        case .tooLarge(let excess): self.init(.tooLarge, of: input, Self.fault(excess))
        case .tooManyPages(let limit): self.init(.tooManyPages, of: input, "would have more than \(limit) pages")
        case .timedOut: self.init(.timedOut, of: input, "takes longer to work on than one job may")
        case .noGlyphs:
            self = .validation([.field("/text", "no-glyphs", "No installed font has any character of the text.")])
        case .overloaded:
            self.init(.overloaded, "Too many jobs wait already.", headerFields: [.retryAfter: "5"])
        case .toolMissing(let tool):
            self.init(
                .toolMissing,
                "\(tool.executable) is not there; on Debian it needs \(tool.package). "
                    + "Everything that does not need it works."
            )
        case .noSuchPage, .unconfined, .failed: return nil
        }
    }

    private static func fault(_ excess: MediaError.Excess) -> String {
        switch excess {
        case .bytes(let limit): "has more than \(limit >> 20) MiB"
        case .pixels(let limit): "has more than \(limit / 1_000_000) million pixels"
        case .text, .output, .memory: "takes more memory or disk than one job may have"
        }
    }

    private init(_ code: ProblemCode, of input: (index: Int, title: String)?, _ fault: String) {
        guard let input else {
            self.init(code, "The document \(fault).")
            return
        }
        let detail = "\(input.title) \(fault)."
        self.init(code, detail, errors: [.field("/files/\(input.index)", code.rawValue, detail)])
    }
}
