@main
struct PDFWorkerCommand {
    static func main() {}
}
