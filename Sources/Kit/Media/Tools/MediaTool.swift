/// A program that Larder starts for work on pictures and documents.
public enum MediaTool: String, Sendable, CaseIterable {
    /// Sets the limits of all the others.
    case prlimit
    /// Takes from all the others what they have no business with: files beside their own, the network.
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
    public var executable: String {
        switch self {
        case .pdfWorker: "larder-pdf-worker"
        case .confine: "larder-confine"
        case .prlimit, .vips, .pdftoppm, .soffice: rawValue
        }
    }

    /// Whether it is built with Larder and belongs beside it.
    var isOwn: Bool { self == .pdfWorker || self == .confine }

    /// The Debian package that has it; what to do where it is part of Larder.
    public var package: String {
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

    /// What cannot be done without it.
    public var purpose: String {
        switch self {
        case .prlimit: "limits of all the others"
        case .confine: "keeping all the others to their files, and off the network"
        case .vips: "decoding and scaling pictures"
        case .pdftoppm: "pictures of pages"
        case .soffice: "previews of office files"
        case .pdfWorker: "making and changing PDFs"
        }
    }

    /// Larder does everything but its own functions without it, and is ready nevertheless.
    public var isOptional: Bool { self == .soffice }
}
