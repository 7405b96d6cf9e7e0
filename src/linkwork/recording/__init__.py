"""What a run leaves: frames, files, exports."""
