/// A program that Media starts.
package enum MediaTool: String, Sendable, CaseIterable {
    /// Sets the limits of all the others.
    case prlimit
    /// Denies all the others files that are not theirs, and the network.
    case confine
    /// Decodes and scales pictures.
    case vips
    /// Draws pages of PDFs.
    case pdftoppm
    /// Converts office files to PDF.
    case soffice
    /// Makes and changes PDFs.
    case pdfWorker

    /// Name of its executable.
    package var executable: String {
        switch self {
        case .pdfWorker: "larder-pdf-worker"
        case .confine: "larder-confine"
        case .prlimit, .vips, .pdftoppm, .soffice: rawValue
        }
    }

    /// Whether it is built with Larder and installed beside it.
    var isOwn: Bool { self == .pdfWorker || self == .confine }

    /// The Debian package of the program; the place of one that is part of Larder.
    package var package: String {
        switch self {
        case .prlimit: "util-linux"
        case .confine: "larder-confine (built with Larder; it belongs beside larder)"
        case .vips: "libvips-tools"
        case .pdftoppm: "poppler-utils"
        case .soffice: "libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui"
        case .pdfWorker:
            "larder-pdf-worker (built with Larder; it belongs beside larder, or where media.pdf_worker says)"
        }
    }

    /// What it is needed for.
    package var purpose: String {
        switch self {
        case .prlimit: "limits of all the others"
        case .confine: "keeping all the others to their files, and off the network"
        case .vips: "decoding and scaling pictures"
        case .pdftoppm: "pictures of pages"
        case .soffice: "previews of office files"
        case .pdfWorker: "making and changing PDFs"
        }
    }

    /// Whether Larder is ready without it.
    package var isOptional: Bool { self == .soffice }
}
