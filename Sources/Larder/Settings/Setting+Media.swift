import Media
import Settings

extension Setting {
    /// The tools whose limits can be set, as their keys name them.
    static let mediaTools:
        [(name: String, limits: any WritableKeyPath<MediaLimits, ChildLimits> & Sendable, what: String)] = [
            ("vips", \.vips, "vips, which decodes and scales pictures"),
            ("pdftoppm", \.pdftoppm, "pdftoppm, which draws pages"),
            ("soffice", \.soffice, "soffice, which converts office files"),
            ("pdf_worker", \.pdfWorker, "larder-pdf-worker, which makes and changes PDFs"),
        ]

    /// Settings of work on pictures and documents. The defaults are those of `MediaLimits`.
    static let media: [Setting] = {
        let limits = MediaLimits()
        func count(_ key: String, _ range: ClosedRange<Int>, _ standard: Int, _ summary: String) -> Setting {
            Setting("media.\(key)", .integer(range), default: "\(standard)", summary)
        }
        let ofAll = [
            Setting(
                "media.pdf_worker",
                .text,
                default: "",
                "path of larder-pdf-worker; empty: beside larder, then on the PATH"
            ),
            count("children", 1...64, limits.children, "concurrent programs for pictures and documents"),
            count("waiting", 1...10_000, limits.waiting, "jobs that may wait; more are refused with 503"),
            count("picture_mb", 1...1024, limits.pictureBytes >> 20, "largest picture file, in MiB"),
            count(
                "picture_megapixels",
                1...2000,
                limits.picturePixels / 1_000_000,
                "largest picture, in millions of pixels"
            ),
            count("page_width", 16...8000, limits.pageWidth, "widest picture of a page, in pixels"),
            count("pdf_mb", 1...2047, limits.pdfBytes >> 20, "largest PDF that is read, in MiB"),
            count("pdf_pages", 1...100_000, limits.pdfPages, "largest number of pages of a document"),
            count("text_kb", 1...65_536, limits.textBytes >> 10, "longest text for text pages, in KiB"),
            count("text_pages", 1...10_000, limits.textPages, "largest number of pages that a text may take"),
            count("office_mb", 1...1024, limits.officeBytes >> 20, "largest office file, in MiB"),
        ]
        let ofTools = mediaTools.flatMap { tool in
            let limits = limits[keyPath: tool.limits]
            let program = tool.what.prefix { $0 != "," }
            return [
                count(
                    "\(tool.name)_memory_mb",
                    16...1_048_576,
                    limits.memory >> 20,
                    "address space of \(tool.what), in MiB"
                ),
                count(
                    "\(tool.name)_cpu_s",
                    1...86_400,
                    Int(limits.processor.components.seconds),
                    "processor time of \(program) for one job"
                ),
                count(
                    "\(tool.name)_timeout_s",
                    1...86_400,
                    Int(limits.wall.components.seconds),
                    "wall time of \(program) for one job"
                ),
                count(
                    "\(tool.name)_file_mb",
                    1...65_536,
                    limits.fileBytes >> 20,
                    "largest file that \(program) may write, in MiB"
                ),
            ]
        }
        return ofAll + ofTools
    }()
}
