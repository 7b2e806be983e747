import HTTPTypes
import Media
import Screens

extension Problem {
    /// Explains why there is no picture or PDF of a file.
    init(_ error: MediaError) {
        switch error {
        case .toolMissing(.soffice):
            self.init(
                .toolMissing,
                "LibreOffice is not installed where Larder runs, so office files cannot be shown as PDF or as pictures."
            )
        case .toolMissing(let tool):
            self.init(
                .toolMissing,
                "\(tool.executable) is not installed where Larder runs, so the file cannot be shown as a picture."
            )
        case .unconfined:
            self.init(
                .toolMissing,
                "Office files are converted only where the kernel can keep LibreOffice from other files "
                    + "(Landlock and seccomp, Linux 5.13 or later)."
            )
        case .overloaded:
            self.init(.overloaded, "Too many pictures are being made already.", headerFields: [.retryAfter: "5"])
        case .tooLarge: self.init(.tooLarge, "The file is too large to be shown as a picture.")
        case .noSuchPage(let number): self = .notFound("The file has no page \(number).")
        case .unsupported(let kind): self.init(.unsupportedMediaType, "There is no picture of this file (\(kind)).")
        case .undecodable(let kind):
            self.init(.unsupportedMediaType, "The file is of a kind of \(kind) that this server cannot read.")
        case .encrypted: self.init(.unsupportedMediaType, "The file needs a password.")
        case .unavailable, .failed: self = .processingUnavailable
        case .storageFull: self = .storageFull
        case .timedOut, .damaged, .tooManyPages, .noGlyphs, .crashed:
            self.init(
                .unsupportedMediaType,
                "The file cannot be shown as a picture: it is broken, or takes too long."
            )
        }
    }
}
