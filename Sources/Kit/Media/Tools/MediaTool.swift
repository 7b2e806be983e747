/// A program that Larder starts for work on pictures and documents.
public enum MediaTool: String, Sendable, CaseIterable {
    /// Sets the limits of all the others.
    case prlimit
    /// Decodes and scales pictures.
    case vips
    /// Draws pages of PDFs.
    case pdftoppm
    /// Converts office files to PDF.
    case soffice
    /// Makes and changes PDFs.
    case pdfWorker

    /// Name of its executable.
    public var executable: String { self == .pdfWorker ? "larder-pdf-worker" : rawValue }

    /// The Debian package that has it; what to do where it is part of Larder.
    public var package: String {
        switch self {
        case .prlimit: "util-linux"
        case .vips: "libvips-tools"
        case .pdftoppm: "poppler-utils"
        case .soffice: "libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui"
        case .pdfWorker: "larder-pdf-worker (built with Larder; it belongs beside larder, or where media.pdf_worker says)"
        }
    }

    /// What cannot be done without it.
    public var purpose: String {
        switch self {
        case .prlimit: "limits of all the others"
        case .vips: "decoding and scaling pictures"
        case .pdftoppm: "pictures of pages"
        case .soffice: "previews of office files"
        case .pdfWorker: "making and changing PDFs"
        }
    }

    /// Larder does everything but its own functions without it, and is ready nevertheless.
    public var isOptional: Bool { self == .soffice }
}
